"""Pages in one file about results: tables that sort, figures with their numbers, examples of rankings."""
