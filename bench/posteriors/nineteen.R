# Nineteen published posteriors in Stan (rstan), written from the formulas of their README: four chains on one core, a line of JSON.
# Ten of them are one of three regressions, whose design is made here. Compiled models are kept.
#   Rscript nineteen.R KEPT --compile [NAME …]
#   Rscript nineteen.R KEPT FOLDER NAME WARMUP DRAWS ADAPT_DELTA ELEMENT …
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(script), "stan.R"))

regression <- function(priors) sprintf("
  data { int N; int K; matrix[N, K] X; vector[N] y; }
  parameters { vector[K] beta; real<lower=0> sigma; }
  model { %s y ~ normal(X * beta, sigma); }", priors)

programs <- list(
  flat = regression(""),
  cauchy = regression("sigma ~ cauchy(0, 2.5);"),
  normal = regression("beta ~ normal(0, 10); sigma ~ normal(0, 10);"),
  eight_schools = "
  data { int J; vector[J] y; vector[J] sigma; }
  parameters { vector[J] t; real mu; real<lower=0> tau; }
  transformed parameters { vector[J] theta = mu + tau * t; }
  model { t ~ normal(0, 1); mu ~ normal(0, 5); tau ~ cauchy(0, 5); y ~ normal(theta, sigma); }",
  arK = "
  data { int K; int T; vector[T] y; }
  transformed data {
    matrix[T - K, K] lags;
    for (t in 1:(T - K)) for (k in 1:K) lags[t, k] = y[t + K - k];
  }
  parameters { real alpha; vector[K] beta; real<lower=0> sigma; }
  model {
    alpha ~ normal(0, 10); beta ~ normal(0, 10); sigma ~ cauchy(0, 2.5);
    y[(K + 1):T] ~ normal(alpha + lags * beta, sigma);
  }",
  garch11 = "
  data { int T; vector[T] y; real sigma1; }
  parameters { real mu; real<lower=0> alpha0; real<lower=0,upper=1> alpha1; real<lower=0,upper=1-alpha1> beta1; }
  model {
    vector[T] s;
    s[1] = sigma1;
    for (t in 2:T) s[t] = sqrt(alpha0 + alpha1 * square(y[t - 1] - mu) + beta1 * square(s[t - 1]));
    y ~ normal(mu, s);
  }",
  gp_regr = "
  data { int N; real x[N]; vector[N] y; }
  parameters { real<lower=0> rho; real<lower=0> alpha; real<lower=0> sigma; }
  model {
    matrix[N, N] C = cov_exp_quad(x, alpha, rho) + diag_matrix(rep_vector(sigma, N));
    rho ~ gamma(25, 4); alpha ~ normal(0, 2); sigma ~ normal(0, 1);
    y ~ multi_normal_cholesky(rep_vector(0, N), cholesky_decompose(C));
  }",
  hmm_example = "
  data { int N; int K; real y[N]; }
  parameters { simplex[2] theta1; simplex[2] theta2; positive_ordered[2] mu; }
  model {
    vector[2] a;
    matrix[2, 2] theta;
    theta[1] = theta1';
    theta[2] = theta2';
    mu[1] ~ normal(3, 1); mu[2] ~ normal(10, 1);
    for (k in 1:2) a[k] = normal_lpdf(y[1] | mu[k], 1);
    for (t in 2:N) {
      vector[2] b;
      for (k in 1:2) b[k] = log_sum_exp(a + log(theta[, k])) + normal_lpdf(y[t] | mu[k], 1);
      a = b;
    }
    target += log_sum_exp(a);
  }",
  low_dim_gauss_mix = "
  data { int N; vector[N] y; }
  parameters { ordered[2] mu; real<lower=0> sigma[2]; real<lower=0,upper=1> theta; }
  model {
    sigma ~ normal(0, 2); mu ~ normal(0, 2); theta ~ beta(5, 5);
    for (n in 1:N)
      target += log_mix(theta, normal_lpdf(y[n] | mu[1], sigma[1]), normal_lpdf(y[n] | mu[2], sigma[2]));
  }",
  lotka_volterra = "
  functions {
    real[] slope(real t, real[] z, real[] theta, real[] x_r, int[] x_i) {
      return { (theta[1] - theta[2] * z[2]) * z[1], (theta[4] * z[1] - theta[3]) * z[2] };
    }
  }
  data { int N; real ts[N]; real y_init[2]; real y[N, 2]; }
  parameters { real<lower=0> theta[4]; real<lower=0> z_init[2]; real<lower=0> sigma[2]; }
  transformed parameters {
    real z[N, 2] = integrate_ode_rk45(slope, z_init, 0, ts, theta, rep_array(0.0, 0), rep_array(0, 0), 1e-5, 1e-3, 500);
  }
  model {
    theta[{1, 3}] ~ normal(1, 0.5); theta[{2, 4}] ~ normal(0.05, 0.05);
    sigma ~ lognormal(-1, 1); z_init ~ lognormal(log(10), 1);
    for (k in 1:2) { y_init[k] ~ lognormal(log(z_init[k]), sigma[k]); y[, k] ~ lognormal(log(z[, k]), sigma[k]); }
  }",
  one_comp_mm_elim_abs = "
  functions {
    real[] slope(real t, real[] c, real[] p, real[] x_r, int[] x_i) {
      return { x_r[1] * p[1] / x_r[2] * exp(-p[1] * t) - p[3] / x_r[2] * c[1] / (p[2] + c[1]) };
    }
  }
  data { real t0; real D; real V; int N_t; real times[N_t]; real C_hat[N_t]; }
  transformed data { real x_r[2] = { D, V }; int x_i[0]; real c0[1] = { 0.0 }; }
  parameters { real<lower=0> k_a; real<lower=0> K_m; real<lower=0> V_m; real<lower=0> sigma; }
  transformed parameters { real C[N_t, 1] = integrate_ode_bdf(slope, c0, t0, times, { k_a, K_m, V_m }, x_r, x_i); }
  model {
    k_a ~ cauchy(0, 1); K_m ~ cauchy(0, 1); V_m ~ cauchy(0, 1); sigma ~ cauchy(0, 1);
    C_hat ~ lognormal(log(C[, 1]), sigma);
  }",
  accel_gp = "
  functions {
    vector root(vector l, real a, real s) { return a * sqrt(sqrt(2 * pi()) * s) * exp(-0.25 * square(s * l)); }
  }
  data { int N; vector[N] Y; matrix[N, 40] Xgp_1; vector[40] l; matrix[N, 20] Xgp_sigma_1; vector[20] l_sigma; }
  parameters {
    real Intercept; real<lower=0> sdgp_1; real<lower=0> lscale_1; vector[40] zgp_1;
    real Intercept_sigma; real<lower=0> sdgp_sigma_1; real<lower=0> lscale_sigma_1; vector[20] zgp_sigma_1;
  }
  model {
    Intercept ~ student_t(3, -13, 36); Intercept_sigma ~ student_t(3, 0, 10);
    zgp_1 ~ normal(0, 1); zgp_sigma_1 ~ normal(0, 1);
    sdgp_1 ~ student_t(3, 0, 36); sdgp_sigma_1 ~ student_t(3, 0, 36);
    lscale_1 ~ inv_gamma(1.124909, 0.0177); lscale_sigma_1 ~ inv_gamma(1.124909, 0.0177);
    Y ~ normal(Intercept + Xgp_1 * (root(l, sdgp_1, lscale_1) .* zgp_1),
               exp(Intercept_sigma + Xgp_sigma_1 * (root(l_sigma, sdgp_sigma_1, lscale_sigma_1) .* zgp_sigma_1)));
  }"
)

# A design with its response, of the data d.
designs <- list(
  nes1972 = function(d) list(y = d$partyid7, X = cbind(1, d$real_ideo, d$race_adj, d$age_discrete == 2, d$age_discrete == 3,
    d$age_discrete == 4, d$educ1, d$gender, d$income)),
  logmesquite_logvash = function(d) list(y = log(d$weight), X = cbind(1, log(d$diam1 * d$diam2 * d$canopy_height),
    log(d$diam1 * d$diam2), log(d$diam1 / d$diam2), log(d$total_height), d$group)),
  mesquite = function(d) list(y = d$weight, X = cbind(1, d$diam1, d$diam2, d$canopy_height, d$total_height, d$density, d$group)),
  logearn_height_male = function(d) list(y = log(d$earn), X = cbind(1, d$height, d$male)),
  log10earn_height = function(d) list(y = log10(d$earn), X = cbind(1, d$height)),
  kidscore_interaction_c = function(d) {
    h <- d$mom_hs - mean(d$mom_hs)
    q <- d$mom_iq - mean(d$mom_iq)
    list(y = d$kid_score, X = cbind(1, h, q, h * q))
  },
  kidscore_momhs = function(d) list(y = d$kid_score, X = cbind(1, d$mom_hs)),
  kidscore_momiq = function(d) list(y = d$kid_score, X = cbind(1, d$mom_iq)),
  sblrc_blr = function(d) list(y = d$y, X = d$X),
  sblri_blr = function(d) list(y = d$y, X = d$X)
)
program_of <- function(name) {
  if (!(name %in% names(designs))) return(name)
  if (name %in% c("kidscore_momhs", "kidscore_momiq")) return("cauchy")
  if (name %in% c("sblrc_blr", "sblri_blr")) return("normal")
  "flat"
}
data_of <- function(name, folder) {
  d <- jsonlite::fromJSON(file.path(folder, paste0(name, ".json")))$data
  if (name %in% names(designs)) {
    design <- designs[[name]](d)
    return(list(N = nrow(design$X), K = ncol(design$X), X = design$X * 1, y = as.numeric(design$y)))
  }
  if (name == "accel_gp") {
    d$l <- as.vector(d$slambda_1)
    d$l_sigma <- as.vector(d$slambda_sigma_1)
  }
  d
}

arguments <- commandArgs(trailingOnly = TRUE)
kept <- arguments[1]
compiled_of <- function(program) {
  file <- file.path(kept, paste0("nineteen-", program, ".rds"))
  compiled_model(file, programs[[program]])$model
}

if (arguments[2] == "--compile") {
  asked <- unique(vapply(arguments[-(1:2)], program_of, ""))
  for (program in asked) {
    compiled_of(program)
    cat(program, "compiled\n")
  }
  quit(save = "no")
}

name <- arguments[3]
warmup <- as.integer(arguments[4])
draws <- as.integer(arguments[5])
delta <- as.numeric(arguments[6])
elements <- arguments[-(1:6)]
model <- compiled_of(program_of(name))
data <- data_of(name, arguments[2])
# The chains of lotka_volterra begin near the curves: from random points some would stay where both curves are noise.
init <- if (name == "lotka_volterra") function() list(theta = c(0.55, 0.028, 0.8, 0.024), z_init = c(34, 6), sigma = c(0.25, 0.25)) else "random"
began <- sum(proc.time()[c("user.self", "sys.self")])
fit <- sampling(model, data = data, chains = 4, warmup = warmup, iter = warmup + draws, seed = 1, refresh = 0, init = init,
  control = list(adapt_delta = delta))
seconds <- sum(proc.time()[c("user.self", "sys.self")]) - began
sampled <- as.array(fit)
sampler <- get_sampler_params(fit, inc_warmup = FALSE)
ess <- min(sapply(elements, function(p) min(ess_bulk(sampled[, , p]), ess_tail(sampled[, , p]))))
rhat <- max(sapply(elements, function(p) Rhat(sampled[, , p])))
cat(jsonlite::toJSON(list(name = name, stan = stan_version(), seconds = seconds, ess = ess, rhat = rhat,
  diverged = sum(sapply(sampler, function(s) sum(s[, "divergent__"])))), auto_unbox = TRUE, digits = 8), "\n", sep = "")
