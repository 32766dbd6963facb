# What the comparisons with Stan share: rstan on one core, and compiled models that are kept.
library(rstan)
options(mc.cores = 1)
# Debian has the headers of BH among those of the system.
if (!nzchar(rstan_options("boost_lib"))) rstan_options(boost_lib = "/usr/include")

# A model compiled from its code, with the seconds that took; from the file if it is of this code.
compiled_model <- function(file, code) {
  if (file.exists(file)) {
    found <- readRDS(file)
    if (identical(found$code, code) && identical(found$version, stan_version())) return(found)
  }
  began <- proc.time()[["elapsed"]]
  model <- stan_model(model_code = code)
  seconds <- proc.time()[["elapsed"]] - began
  found <- list(model = model, code = code, version = stan_version(), seconds = seconds)
  saveRDS(found, file)
  found
}
