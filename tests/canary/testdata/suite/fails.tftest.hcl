run "fails" {
  variables {
    by_run = "run-${var.by_env}"
  }
  assert {
    condition     = output.out == var.by_run
    error_message = "The output is ${output.out}, not ${var.by_run}."
  }
}

run "errs" {
  assert {
    condition     = tonumber(var.by_env) == 1
    error_message = "The variable is ${var.by_env}."
  }
}

run "breaks" {
  command = plan
  variables {
    by_env = jsondecode(var.by_env)
  }
}
