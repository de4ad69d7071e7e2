// @ts-check
// Builds kube-apiserver, kube-scheduler and kubectl from the source package of Debian 12, which contains all its dependencies, and adds Debian's
// etcd. Once per machine, about 5 minutes on 2 cores. Nothing is installed and no configuration of the machine changes: apt works in a folder of
// its own, with the mirrors that the machine uses.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { PlainError, root } from '../vscode/lab.mjs';

/** The release whose `kubernetes` contains its dependencies; those of later releases do not. */
const release = 'bookworm';
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
const programs = ['kube-apiserver', 'kube-scheduler', 'kubectl', 'etcd'];
/** Written last: its presence and content say that the build is whole. */
const recipe = 'debian-1';

const buildFolder = path.join(root, '.cache', 'kubernetes');

/** This machine cannot build: it is not Debian, a tool is missing, or a package cannot be fetched. */
export class Unavailable extends PlainError {}

/** Whether the programs have been built. */
export function isBuilt(folder = buildFolder) {
  try {
    return (
      fs.readFileSync(path.join(folder, 'built'), 'utf8') === recipe &&
      programs.every((name) => fs.existsSync(path.join(folder, name)))
    );
  } catch {
    return false;
  }
}

/**
 * Builds the programs unless they are there.
 * @param {string} [folder] where they go
 * @returns {string} the folder, usable as KUBEBUILDER_ASSETS
 * @throws {Unavailable} if this machine cannot build
 * @throws {PlainError} if the build fails
 */
export function buildFromDebian(folder = buildFolder) {
  if (isBuilt(folder)) return folder;
  const mirror = checkMachine();
  const work = path.join(folder, 'work');
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(work, { recursive: true });
  try {
    const tools = fetch(work, mirror);
    compile(work, tools);
    for (const name of programs) fs.renameSync(path.join(work, 'bin', name), path.join(folder, name));
    fs.writeFileSync(path.join(folder, 'built'), recipe);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
  console.log(`Built ${programs.join(', ')} in ${path.relative(root, folder)}.`);
  return folder;
}

/** @returns {string} the address of the Debian mirror */
function checkMachine() {
  const osRelease = fs.existsSync('/etc/os-release') ? fs.readFileSync('/etc/os-release', 'utf8') : '';
  if (!/^ID=debian$/m.test(osRelease)) throw new Unavailable('this machine is not Debian');
  for (const tool of ['apt-get', 'dpkg-source', 'patch'])
    if (spawnSync(tool, ['--version']).status !== 0)
      throw new Unavailable(`${tool} is missing: apt-get install dpkg-dev`);
  const targets = spawnSync('apt-get', ['indextargets', '--format', '$(CREATED_BY) $(ORIGIN) $(REPO_URI)'], {
    encoding: 'utf8',
  });
  const mirror = /^Packages Debian (\S+)$/m.exec(targets.stdout ?? '')?.[1];
  if (mirror === undefined)
    throw new Unavailable('apt knows no mirror of Debian: check /etc/apt and run apt-get update');
  return mirror;
}

/**
 * Fetches and unpacks the source, Go and etcd.
 * @param {string} work
 * @param {string} mirror
 * @returns {string} the folder of Go
 */
function fetch(work, mirror) {
  const apt = path.join(work, 'apt');
  for (const name of ['lists/partial', 'cache/archives/partial'])
    fs.mkdirSync(path.join(apt, name), { recursive: true });
  const line = `[signed-by=${keyring}] ${mirror} ${release} main\n`;
  fs.writeFileSync(path.join(apt, 'sources.list'), `deb ${line}deb-src ${line}`);
  const options = Object.entries({
    'Dir::Etc::sourcelist': path.join(apt, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State::lists': path.join(apt, 'lists'),
    'Dir::Cache': path.join(apt, 'cache'),
    'Acquire::Languages': 'none',
    // A mirror that cannot be reached is otherwise only a warning.
    'APT::Update::Error-Mode': 'any',
    // The user _apt cannot write to this folder.
    'APT::Sandbox::User': process.getuid?.() === 0 ? 'root' : '',
  }).flatMap(([name, value]) => (value === '' ? [] : ['-o', `${name}=${value}`]));
  const get = (/** @type {string[]} */ ...args) =>
    run('apt-get', ['-qq', ...options, ...args], { cwd: work, error: Unavailable });
  console.log(`Fetching Debian's source of Kubernetes, Go and etcd from ${mirror} (150 MB)`);
  get('update');
  const goPackage = /^ +Depends: (golang-[\d.]+)-go$/m.exec(
    run('apt-cache', [...options, 'depends', 'golang-go'], { cwd: work, error: Unavailable }),
  )?.[1];
  if (goPackage === undefined) throw new Unavailable(`${release} has no package golang-go`);
  get('source', '--download-only', 'kubernetes');
  get('download', `${goPackage}-go`, `${goPackage}-src`, 'etcd-server', 'golang-github-modern-go-reflect2-dev');
  const unpacked = path.join(work, 'root');
  for (const file of fs.readdirSync(work).filter((name) => name.endsWith('.deb')))
    run('dpkg', ['-x', path.join(work, file), unpacked], { cwd: work });
  fs.mkdirSync(path.join(work, 'bin'));
  fs.copyFileSync(path.join(unpacked, 'usr/bin/etcd'), path.join(work, 'bin', 'etcd'));
  const description = fs.readdirSync(work).find((name) => name.endsWith('.dsc')) ?? '';
  const source = sourceFolder(work);
  fs.mkdirSync(path.dirname(source), { recursive: true });
  run('dpkg-source', ['--no-check', '-x', description, source], { cwd: work });
  // Its own copy of this library crashes with Go 1.18 and later: https://github.com/modern-go/reflect2/pull/25
  const library = 'github.com/modern-go/reflect2';
  fs.rmSync(path.join(source, 'vendor', library), { recursive: true });
  fs.cpSync(path.join(unpacked, 'usr/share/gocode/src', library), path.join(source, 'vendor', library), {
    recursive: true,
  });
  return path.join(unpacked, 'usr/lib', goPackage.replace('golang-', 'go-'));
}

/** Where Go expects the source. @param {string} work */
function sourceFolder(work) {
  return path.join(work, 'go/src/k8s.io/kubernetes');
}

/**
 * @param {string} work
 * @param {string} goRoot
 */
function compile(work, goRoot) {
  const cwd = sourceFolder(work);
  const bin = path.join(work, 'bin');
  const env = {
    ...process.env,
    GOROOT: goRoot,
    GOPATH: path.join(work, 'go'),
    GOCACHE: path.join(work, 'cache'),
    GO111MODULE: 'off',
    GOPROXY: 'off',
    GOFLAGS: '',
    CGO_ENABLED: '0',
  };
  const go = (/** @type {string[]} */ ...args) => run(path.join(goRoot, 'bin/go'), args, { cwd, env });
  // Debian's 1.20.5+really1.20.2 is upstream's 1.20.2.
  const version = /.*(?:_|really)([\d.]+)\.orig\./.exec(fs.readdirSync(work).join(' '))?.[1] ?? '0.0.0';
  console.log(`Compiling Kubernetes ${version} (about 5 min on 2 cores)`);
  // Everything else that upstream's build generates is in the source.
  go('build', '-o', path.join(work, 'openapi-gen'), './vendor/k8s.io/kube-openapi/cmd/openapi-gen');
  const generated = 'k8s.io/kubernetes/pkg/generated/openapi';
  const boilerplate = 'vendor/k8s.io/code-generator/hack/boilerplate.go.txt';
  const report = path.join(work, 'violations');
  run(
    path.join(work, 'openapi-gen'),
    ['-i', typesIn(cwd).join(), '-p', generated, '-O', 'zz_generated.openapi', '-h', boilerplate, '-r', report],
    // It starts `go list`.
    { cwd, env: { ...env, PATH: `${path.join(goRoot, 'bin')}:${process.env.PATH ?? ''}` } },
  );
  const [major, minor] = version.split('.');
  const values = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const flags = [
    'k8s.io/kubernetes/vendor/k8s.io/component-base/version',
    'k8s.io/kubernetes/vendor/k8s.io/client-go/pkg/version',
  ]
    .flatMap((name) => Object.entries(values).map(([key, value]) => `-X ${name}.${key}=${value}`))
    .join(' ');
  const commands = ['kube-apiserver', 'kube-scheduler', 'kubectl'].map((name) => `./cmd/${name}`);
  go('build', '-trimpath', '-ldflags', `-s -w ${flags}`, '-o', `${bin}/`, ...commands);
}

/** The packages whose types the API server describes, as upstream's makefile finds them. @param {string} source */
function typesIn(source) {
  const libraries = fs
    .readdirSync(path.join(source, 'vendor/k8s.io'))
    .filter((name) => name !== 'code-generator' && name !== 'sample-apiserver')
    // The slash: they are links.
    .map((name) => `vendor/k8s.io/${name}/`);
  const found = run('grep', ['-rl', '--include=*.go', '+k8s:openapi-gen=', 'pkg', 'cmd', 'plugin', ...libraries], {
    cwd: source,
  });
  const folders = new Set(
    found
      .trim()
      .split('\n')
      .map((file) => path.posix.join('k8s.io/kubernetes', path.posix.dirname(file))),
  );
  return [...folders].sort();
}

/**
 * Runs a program and gives its output.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{cwd: string, env?: NodeJS.ProcessEnv, error?: typeof PlainError}} options
 */
function run(command, args, { cwd, env = process.env, error = PlainError }) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: 1e8 });
  if (status !== 0) {
    const reason = (stderr ?? '').trim().split('\n').slice(-8).join('\n');
    throw new error(
      `${path.basename(command)} ${args.find((each) => !each.startsWith('-') && !each.includes('=')) ?? ''} failed: ${reason}`,
    );
  }
  return stdout;
}
