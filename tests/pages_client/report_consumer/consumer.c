/* An application that was built against the installed library. Prints 1500, the reports that it
 * made. */
#include <pingloom/report.h>
#include <stdio.h>

int main(void) {
  struct pingloom_reporter_options options = {0};
  struct pingloom_reporter_status status;
  pingloom_reporter* reporter = NULL;
  int i;
  options.reporter = 7;
  if (pingloom_reporter_open(&options, &reporter) != 0) return 1;
  for (i = 0; i < 1500; ++i) {
    if (pingloom_report_increment(reporter, 3, "link", 4, 1) != 0) return 1;
  }
  pingloom_reporter_get_status(reporter, &status);
  printf("%llu\n", (unsigned long long)status.taken);
  pingloom_reporter_close(reporter);
  return 0;
}
