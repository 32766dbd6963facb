# Writes loo.json: cross-validation by the loo package, for loo.test.ts.
#
# Rscript make_loo.R
suppressMessages(library(loo))
s <- 1:1000
part <- function(c) (s * c) %% 1
mu <- 0.3 * qnorm(part(0.6180339887498949))
sigma <- exp(0.2 * qnorm(part(0.7548776662466927)))
y <- c(-1.2, 0.3, 0.5, 1.1, -0.4, 2.2, 0.1, -0.9, 4.5, 0.8)
normal <- sapply(y, function(v) dnorm(v, mu, sigma, log = TRUE))
shifted <- sapply(y, function(v) dnorm(v, mu + 0.5, sigma, log = TRUE))
cauchy <- sapply(y, function(v) dcauchy(v, mu, sigma, log = TRUE))
of <- function(ll, r_eff) {
  l <- suppressWarnings(loo(ll, r_eff = rep(r_eff, ncol(ll))))
  list(elpd = l$estimates["elpd_loo", "Estimate"], elpdError = l$estimates["elpd_loo", "SE"],
       parameters = l$estimates["p_loo", "Estimate"], parametersError = l$estimates["p_loo", "SE"],
       pointwise = unname(l$pointwise[, "elpd_loo"]), shapes = unname(l$diagnostics$pareto_k))
}
all <- list(normal = of(normal, 1), shifted = of(shifted, 1), cauchy = of(cauchy, 1), slow = of(normal, 0.3))
c <- suppressWarnings(loo_compare(loo(normal, r_eff = rep(1, 10)), loo(shifted, r_eff = rep(1, 10)), loo(cauchy, r_eff = rep(1, 10))))
text <- function(x) paste0("[", paste(format(x, digits = 15, trim = TRUE, scientific = FALSE), collapse = ", "), "]")
rows <- sapply(names(all), function(n) {
  a <- all[[n]]
  paste0('  "', n, '": {', paste0('"', names(a), '": ', ifelse(lengths(a) == 1, sub("^\\[(.*)\\]$", "\\1", sapply(a, text)), sapply(a, text)), collapse = ", "), "}")
})
rows <- c(rows, paste0('  "compare": {"names": ["', paste(c("normal", "shifted", "cauchy")[as.integer(sub("model", "", rownames(c)))], collapse = '", "'), '"], "difference": ', text(c[, "elpd_diff"]), ', "differenceError": ', text(c[, "se_diff"]), "}"))
writeLines(c("{", paste(rows, collapse = ",\n"), "}"), "loo.json")
cat(as.character(packageVersion("loo")), "\n")
