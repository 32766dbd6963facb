# Posteriors in Stan (rstan), four chains on one core, a line of JSON each: seconds to compile, of the warm-up and of the draws as Stan
# counts them (processor time), the least bulk ESS of a parameter, and leapfrog steps.
# Compiled models are kept, with the seconds that took.
#   Rscript posteriors_stan.R MODELS FOLDER NAME WARMUP DRAWS
#   Rscript posteriors_stan.R MODELS --compile
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(script), "posteriors", "stan.R"))
arguments <- commandArgs(trailingOnly = TRUE)
kept <- arguments[1]
folder <- arguments[2]
data_of <- function(name) jsonlite::fromJSON(file.path(folder, paste0(name, ".json")))$data

models <- list(
  eight_schools = "
    data { int J; vector[J] y; vector[J] sigma; }
    parameters { vector[J] t; real mu; real<lower=0> tau; }
    model {
      t ~ normal(0, 1); mu ~ normal(0, 5); tau ~ cauchy(0, 5);
      y ~ normal(mu + tau * t, sigma);
    }",
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
  low_dim_gauss_mix = "
    data { int N; vector[N] y; }
    parameters { ordered[2] mu; vector<lower=0>[2] sigma; real<lower=0,upper=1> theta; }
    model {
      sigma ~ normal(0, 2); mu ~ normal(0, 2); theta ~ beta(5, 5);
      for (n in 1:N)
        target += log_mix(theta, normal_lpdf(y[n] | mu[1], sigma[1]), normal_lpdf(y[n] | mu[2], sigma[2]));
    }",
  straight_line = "
    data { int N; vector[N] x; vector[N] y; }
    parameters { real alpha; real beta; real<lower=0> sigma; }
    model {
      alpha ~ normal(0, 1000); beta ~ normal(0, 10); sigma ~ normal(0, 10);
      y ~ normal(alpha + beta * x, sigma);
    }"
)

compiled_of <- function(name) compiled_model(file.path(kept, paste0(name, ".rds")), models[[name]])

if (folder == "--compile") {
  for (name in names(models)) cat(name, compiled_of(name)$seconds, "s\n")
  quit(save = "no")
}

name <- arguments[3]
warmup <- as.integer(arguments[4])
draws <- as.integer(arguments[5])
compiled <- compiled_of(name)
data <- if (name == "straight_line") jsonlite::fromJSON(file.path(folder, "straight_line.json")) else data_of(name)
fit <- sampling(compiled$model, data = data, chains = 4, warmup = warmup, iter = warmup + draws, seed = 1, refresh = 0)
spent <- colSums(get_elapsed_time(fit))
sampled <- as.array(fit)
parameters <- setdiff(dimnames(sampled)$parameters, "lp__")
ess <- min(sapply(parameters, function(p) ess_bulk(sampled[, , p])))
steps <- sum(sapply(get_sampler_params(fit, inc_warmup = FALSE), function(s) sum(s[, "n_leapfrog__"])))
cat(jsonlite::toJSON(list(name = name, stan = stan_version(), compiling = compiled$seconds,
  warmup = spent[["warmup"]], sampling = spent[["sample"]], ess = ess, steps = steps), auto_unbox = TRUE, digits = 8), "\n", sep = "")
