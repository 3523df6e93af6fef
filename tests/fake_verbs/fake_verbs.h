// What the fake libibverbs.so.1 offers tests beside the verbs themselves. Programs that are not
// linked for it load it by LD_LIBRARY_PATH, get their devices from the file that
// PINGLOOM_FAKE_VERBS names (config.h) and their faults from the lines that are added to that
// file's name with
// ".faults" behind it (faults.cpp).
#pragma once

extern "C" {
// Applies one line of faults.cpp, at once, in this process.
__attribute__((visibility("default"))) void fakeVerbsFault(const char* line);
// Calls of ibv_post_send so far.
__attribute__((visibility("default"))) int fakeVerbsDoorbells();
// Objects that the application has made and not destroyed: 0 after a test.
__attribute__((visibility("default"))) int fakeVerbsLiveObjects();
}
