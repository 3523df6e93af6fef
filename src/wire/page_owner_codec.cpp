#include "wire/page_owner_codec.h"

#include "common/text.h"

namespace pingloom::wire {

void encode(const pingloom::PageOwners& owners, PageOwners& out) {
  for (const pingloom::PageOwner& owner : owners.owners) {
    PageOwner& to = *out.add_owners();
    to.set_application(owner.application);
    to.set_process(owner.process);
    to.set_user(owner.user);
    to.set_pages(owner.pages);
    to.set_metrics(owner.metrics);
  }
  out.set_left_out(owners.left_out);
}

Result<pingloom::PageOwners> decode(const PageOwners& in) {
  if (static_cast<std::size_t>(in.owners_size()) > pingloom::PageOwners::kMax) {
    return makeError("page owners", "are more than 256");
  }
  pingloom::PageOwners made;
  made.left_out = in.left_out();
  for (const PageOwner& owner : in.owners()) {
    const std::string& application = owner.application();
    if (application.empty() || application.size() > kMaxPageApplication ||
        hasControls(application)) {
      return makeError("page owner", "its application's name is malformed");
    }
    if (owner.pages() == 0) return makeError("page owner", "has no page");
    made.owners.push_back(
        {application, owner.process(), owner.user(), owner.pages(), owner.metrics()});
  }
  return made;
}

}  // namespace pingloom::wire
