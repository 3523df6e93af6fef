// packaging/never_run/kubernetes: every manifest is valid by the types of the Kubernetes API's
// OpenAPI document (kubernetes-types), which define the fields, their types and which are required;
// and the parts fit together. The test runs on no cluster.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { npm } from './packages.mjs';

const { default: yaml } = await npm('js-yaml');
const folder = fileURLToPath(new URL('../../packaging/never_run/kubernetes/', import.meta.url));
const modules = fileURLToPath(new URL('../../web/node_modules', import.meta.url));
const { PINGLOOM_BIN } = process.env;

const documents = (file) => yaml.loadAll(readFileSync(join(folder, file), 'utf8'));
const finder = (manifests) => (kind, name) => manifests.find((each) => each.kind === kind && each.metadata.name === name);
// One controller, and several in its place.
const sets = [['controller.yaml', 'Deployment', 'pingloom-controller'], ['controllers.yaml', 'StatefulSet', 'controller']].map(
  ([file, kind, name]) => {
    const manifests = [file, 'agent.yaml', 'collector.yaml'].flatMap(documents);
    const find = finder(manifests);
    const pods = [find('DaemonSet', 'pingloom-agent'), find(kind, name), find('Deployment', 'pingloom-collector')]
      .map(({ spec }) => spec.template);
    return { file, manifests, find, pods };
  });
const [{ find, pods }] = sets;

// Returns tsc's errors about `values`, each a [version, kind, value]; "" where all are valid.
function typeErrors(values) {
  const work = mkdtempSync(join(tmpdir(), 'pingloom-kubernetes-'));
  try {
    symlinkSync(modules, join(work, 'node_modules'));
    const module = (version) => (version === 'v1' ? 'core/v1' : version);
    const lines = values.map(([version, kind, value]) =>
      `void (${JSON.stringify(value)} satisfies import('kubernetes-types/${module(version)}').${kind});`);
    writeFileSync(join(work, 'manifests.ts'), `${lines.join('\n')}\nexport {};\n`);
    execFileSync(process.execPath, [join(modules, 'typescript/bin/tsc'), '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022',
      '--module', 'esnext', '--moduleResolution', 'bundler', join(work, 'manifests.ts')], { encoding: 'utf8', cwd: work });
    return '';
  } catch (failure) {
    return failure.stdout ?? String(failure);
  } finally {
    rmSync(work, { recursive: true });
  }
}

for (const { file, manifests } of sets) {
  test(`the manifests with ${file} are valid`, () => {
    assert.ok(manifests.length >= 8);
    assert.equal(typeErrors(manifests.map((each) => [each.apiVersion, each.kind, each])), '');
  });
}

test('a mistake would be found', () => {
  const broken = (change) => {
    const copy = structuredClone(find('DaemonSet', 'pingloom-agent'));
    change(copy.spec.template.spec);
    return typeErrors([[copy.apiVersion, copy.kind, copy]]);
  };
  assert.match(broken((spec) => { spec.containers[0].securityContxt = {}; }), /securityContxt/);
  assert.match(broken((spec) => { spec.hostNetwork = 'yes'; }), /not assignable to type 'boolean/);
  assert.match(broken((spec) => { delete spec.containers; }), /containers/);
});

test('the patch for RDMA changes the existing container', () => {
  const [patch] = documents('agent-rdma.yaml');
  const [container] = patch.spec.template.spec.containers;
  assert.equal(container.name, pods[0].spec.containers[0].name);
  assert.deepEqual(typeErrors([['v1', 'Container', container]]), '');
  const [resource] = Object.keys(container.resources.limits);
  assert.ok(pods[2].spec.containers[0].resources.limits[resource], 'the collector uses the same device');
  assert.deepEqual(readdirSync(folder).sort(),
    ['agent-rdma.yaml', 'agent.yaml', 'collector.yaml', 'controller.yaml', 'controllers.yaml', 'workload.yaml']);
});

function partsFit({ manifests, find, pods }) {
  for (const workload of manifests.filter(({ spec }) => spec?.template)) {
    assert.deepEqual(workload.spec.selector.matchLabels, workload.spec.template.metadata.labels);
    const { volumes, containers, initContainers = [] } = workload.spec.template.spec;
    const claims = (workload.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata);
    for (const { name, configMap, persistentVolumeClaim } of volumes) {
      if (configMap) assert.ok(find('ConfigMap', configMap.name), name);
      if (persistentVolumeClaim) assert.ok(find('PersistentVolumeClaim', persistentVolumeClaim.claimName), name);
    }
    for (const { volumeMounts } of [...containers, ...initContainers]) {
      for (const { name } of volumeMounts) assert.ok([...volumes, ...claims].some((volume) => volume.name === name), name);
    }
    if (workload.kind === 'StatefulSet') {
      assert.ok(find('Service', workload.spec.serviceName));
      const { metadata, spec } = workload;
      assert.ok(`${metadata.name}-${spec.replicas}.${spec.serviceName}.${metadata.namespace}.svc.cluster.local`.length <= 64);
    }
  }
  for (const service of manifests.filter(({ kind }) => kind === 'Service')) {
    const pod = pods.find(({ metadata }) => isDeepStrictEqual(metadata.labels, service.spec.selector));
    assert.ok(pod, service.metadata.name);
    for (const { targetPort } of service.spec.ports) {
      assert.ok(pod.spec.containers[0].ports.some(({ name }) => name === targetPort), targetPort);
    }
  }
  assert.ok(manifests.every(({ kind, metadata }) => kind === 'Namespace' || metadata.namespace === 'pingloom'));
}

for (const set of sets) test(`selectors, volumes and claims with ${set.file} name existing objects`, () => partsFit(set));

// The folder on the host that a pod has mounted at `path`.
function hostFolder({ volumes, containers: [{ volumeMounts }] }, path) {
  const { name } = volumeMounts.find(({ mountPath }) => mountPath === path);
  return volumes.find((volume) => volume.name === name).hostPath.path;
}

test('a workload has pages by the socket alone', () => {
  const manifests = documents('workload.yaml');
  assert.equal(typeErrors(manifests.map((each) => [each.apiVersion, each.kind, each])), '');
  const [{ spec: { selector, template } }] = manifests;
  assert.deepEqual(selector.matchLabels, template.metadata.labels);
  const { spec } = template;
  for (const shared of ['hostIPC', 'hostPID', 'hostNetwork']) assert.ok(!spec[shared], shared);
  const [{ spec: agent }] = pods;
  assert.equal(hostFolder(spec, '/run/pingloom'), hostFolder(agent, '/run/pingloom'));
  assert.deepEqual(spec.securityContext.supplementalGroups, [agent.securityContext.runAsGroup]);
  const { pages } = yaml.load(find('ConfigMap', 'pingloom-agent').data['agent.yaml']);
  assert.equal(pages.socket, '/run/pingloom/pages.sock', 'the clients look there');
  assert.equal(agent.hostPID, true, 'the agent sees which pod a process is in');
});

test('daemons have no privilege', () => {
  for (const { spec } of sets.flatMap((set) => set.pods)) {
    assert.equal(spec.securityContext.runAsNonRoot, true);
    for (const { securityContext, livenessProbe } of spec.containers) {
      assert.deepEqual(securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
      assert.equal(livenessProbe.httpGet.path, '/healthz');
    }
  }
});

test('the configurations in them are valid', () => {
  const work = mkdtempSync(join(tmpdir(), 'pingloom-kubernetes-'));
  try {
    for (const { data } of sets.flatMap((set) => set.manifests).filter(({ kind }) => kind === 'ConfigMap')) {
      for (const [name, text] of Object.entries(data)) {
        writeFileSync(join(work, name), text);
        execFileSync(join(PINGLOOM_BIN, 'pingloom'), ['check', join(work, name)]);
      }
    }
  } finally {
    rmSync(work, { recursive: true });
  }
});
