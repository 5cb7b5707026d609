run "passes" {
  variables {
    by_run = var.by_env
  }
  assert {
    condition     = output.out != var.by_env
    error_message = "The output is ${output.out}."
  }
}
