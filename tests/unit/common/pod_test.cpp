// Paths of cgroups as kubelets and container runtimes make them, and as users might.
#include "common/pod.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace pingloom::pod_test {
namespace {

const std::string kUid = "2b1c5a7e-93d0-4f0a-8a54-0c9c3b5f7d21";
const std::string kUnderscored = "2b1c5a7e_93d0_4f0a_8a54_0c9c3b5f7d21";
const std::string kStatic = "dfb2a1c3e4f50617283940a1b2c3d4e5";
const std::string kId = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const std::string kOtherId = "1" + kId.substr(1);
const Pod kPod{kUid, "9f86d081884c"};
const Pod kNoContainer{kUid, ""};

TEST(Pod, IsFoundByEachRuntimeAndDriver) {
  const std::string slice = "kubepods-burstable-pod" + kUnderscored + ".slice";
  for (const std::string& path : {
           // containerd, CRI-O and cri-dockerd name scopes below systemd's slices.
           "/kubepods.slice/kubepods-burstable.slice/" + slice + "/cri-containerd-" + kId +
               ".scope",
           "/kubepods.slice/kubepods-burstable.slice/" + slice + "/crio-" + kId + ".scope",
           "/kubepods.slice/kubepods-burstable.slice/" + slice + "/docker-" + kId + ".scope",
           // A guaranteed pod has no class, and applications make cgroups of their own.
           "/kubepods.slice/kubepods-pod" + kUnderscored + ".slice/cri-containerd-" + kId +
               ".scope",
           "/kubepods.slice/" + slice + "/crio-" + kId + ".scope/container/init.scope",
           // The driver cgroupfs makes the names itself.
           "/kubepods/besteffort/pod" + kUid + "/" + kId,
           "/kubepods/pod" + kUid + "/crio-" + kId,
           // containerd joins names by colons if its driver is not the kubelet's.
           "/system.slice/containerd.service/" + slice + ":cri-containerd:" + kId,
           // The nodes of kind are containers.
           "/docker/" + kOtherId + "/kubelet/kubepods/burstable/pod" + kUid + "/" + kId,
           "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
           "kubelet-kubepods-besteffort-pod" +
               kUnderscored + ".slice/cri-containerd-" + kId + ".scope",
           // A reader in a cgroup namespace sees paths from there.
           "/../../" + slice + "/cri-containerd-" + kId + ".scope",
           "/../../pod" + kUid + "/" + kId,
           // A pod may run a cluster of its own.
           "/kubepods/pod" + kUid + "/" + kId + "/kubepods/pod" + kStatic + "/" + kOtherId,
       }) {
    EXPECT_EQ(podOfCgroup(path), kPod) << path;
  }
  EXPECT_EQ(podOfCgroup("/kubepods/burstable/pod" + kStatic + "/" + kId),
            (Pod{kStatic, kPod.container}));
}

TEST(Pod, MayHaveNoContainer) {
  for (const std::string& path :
       {"/kubepods/burstable/pod" + kUid, "/kubepods/burstable/pod" + kUid + "/",
        "/kubepods/pod" + kUid + "/crio-conmon-" + kId + ".scope",
        "/kubepods/pod" + kUid + "/" + kId.substr(1), "/kubepods/pod" + kUid + "/\x1b[31m" + kId}) {
    EXPECT_EQ(podOfCgroup(path), kNoContainer) << path;
  }
}

TEST(Pod, IsNotWhatLooksSimilar) {
  std::string upper = kUid;
  upper[0] = 'A';
  for (const std::string& path :
       {std::string(),
        std::string("/"),
        std::string("0::/"),
        std::string("/kubepods.slice"),
        std::string("/kubepods.slice/kubepods-burstable.slice"),
        std::string("/system.slice/ssh.service"),
        std::string("/system.slice/pod.slice"),
        "/system.slice/docker-" + kId + ".scope",
        "/docker/" + kId,
        "/machine.slice/libpod-" + kId + ".scope",
        "/kubepods/pod" + kUid.substr(1),
        "/kubepods/pod" + kUid + "0",
        "/kubepods/pod" + kUnderscored,
        "/kubepods/pod" + upper,
        "/kubepods/pod" + kUid.substr(0, 35) + "\n",
        "/kubepods/xpod" + kUid,
        "/a-pod" + kUnderscored + ".slice",
        "/kubepods-burstable-pod" + kUid + ".scope",
        "/user.slice/user-1000.slice/user@1000.service/kubepods/pod" + kUid + "/" + kId,
        std::string(4096, '/') + "pod" + kUid}) {
    EXPECT_EQ(podOfCgroup(path), std::nullopt) << path;
  }
}

TEST(Pod, IsThatOfAProcess) {
  const std::string path = "/kubepods/besteffort/pod" + kUid + "/" + kId;
  EXPECT_EQ(podOfProcess("0::" + path + "\n"), kPod);
  EXPECT_EQ(podOfProcess("0::" + path), kPod);
  EXPECT_EQ(podOfProcess("12:cpuset:/\n5:cpu,cpuacct:" + path + "\n1:name=systemd:" + path +
                         "\n0::/system.slice/containerd.service\n"),
            kPod);
  for (const std::string& text : {std::string(), std::string("\n"), std::string(":"),
                                  std::string("0::/\n"), std::string("0::\n\n::\n")}) {
    EXPECT_EQ(podOfProcess(text), std::nullopt) << text;
  }
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    std::string wrong = "1:name=systemd:/\n0::" + path + "\n";
    for (int i = 0; i < 3; ++i) wrong[random() % wrong.size()] = static_cast<char>(random());
    const auto pod = podOfProcess(wrong.substr(0, random() % wrong.size()));
    if (!pod) continue;
    EXPECT_TRUE(isPodUid(pod->uid)) << wrong;
    EXPECT_TRUE(pod->container.empty() || isContainer(pod->container)) << wrong;
  }
}

}  // namespace
}  // namespace pingloom::pod_test
