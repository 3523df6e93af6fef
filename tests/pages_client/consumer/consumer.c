#include <pingloom/pages.h>
#include <stdio.h>

int main(void) {
  struct pingloom_pages_options options = {.application = "consumer", .socket = "/nonexistent"};
  pingloom_pages* pages;
  if (pingloom_pages_open(&options, &pages) != PINGLOOM_OK) return 1;
  struct pingloom_metric metric = {.name = "took_seconds", .unit = 1e-9};
  pingloom_histogram histogram;
  if (pingloom_histogram_make(pages, &metric, &histogram) != PINGLOOM_OK) return 2;
  pingloom_histogram_observe(histogram, 1500);
  printf("%llu\n", (unsigned long long)histogram.slots[0]);
  pingloom_pages_close(pages);
  return 0;
}
