// Everything that the suites of suites.ts install beside `npm ci`: what, why and how.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const root = join(import.meta.dirname, '..')

/** The directory of the jars of Debian's packages. */
export const DEBIAN_JARS = '/usr/share/java'

/** The path is absolute, because another python on the PATH may not see Debian's packages. */
export const PYTHON = '/usr/bin/python3'

export interface Need {
  /** The name in messages. */
  name: string
  /** What the tests use it for. */
  why: string
  /** Where it comes from, and by which command. */
  how: string
  isInstalled: () => boolean | Promise<boolean>
  /** Other ways to provide it. */
  alternatives: string
}

export interface DebianPackage extends Need {
  package: string
}

/** Packages of another suite of Debian, unpacked beside those that are installed. */
export interface SuitePackages extends Need {
  suite: string
  packages: readonly string[]
}

/** Packages from npm that only some suites need, in a folder of their own. */
export interface NpmTools extends Need {
  directory: string
  /** The text of the folder's package.json. */
  manifest: string
  /** A package that npm compiles. It may be configured not to run the scripts of packages, so it is asked to. */
  compiled?: string
}

const debian = (
  packageName: string,
  { alternatives = `apt-get install ${packageName}`, ...given }: Omit<Need, 'how' | 'alternatives'> & Partial<Need>,
): DebianPackage => ({
  ...{ package: packageName, how: `the Debian package ${packageName}, by apt-get`, alternatives },
  ...given,
})

const hasFile = (file: string) => () => existsSync(file)
const succeeds = (program: string, ...args: string[]) =>
  promisify(execFile)(program, args).then(
    () => true,
    () => false,
  )

export const zookeeper = debian('zookeeper', {
  name: 'Apache ZooKeeper',
  why: 'the server of all tests that need a real one',
  isInstalled: () => Boolean(process.env['ZOOKEEPER_HOME']) || existsSync(join(DEBIAN_JARS, 'zookeeper.jar')),
  alternatives:
    'point ZOOKEEPER_HOME at an unpacked binary distribution; install the Debian package zookeeper; for the benchmark, ' +
    'name a running server with --server host:port.',
})

/** The versions of ZooKeeper that other suites of Debian have. */
export type OtherVersion = '3.4.13' | '3.9.3' | '3.9.6'

export const homeOf = (version: OtherVersion): string => join(root, '.cache/zookeepers', version)

const otherVersion = (version: OtherVersion): Need => ({
  name: `Apache ZooKeeper ${version}`,
  why: 'a server on which the client and all recipes are tested',
  how: `apt-get download of another suite of Debian, unpacked in .cache/zookeepers/${version}`,
  isInstalled: hasFile(homeOf(version)),
  alternatives: 'name unpacked binary distributions in ZOOKEEPER_HOMES; without it, its tests are skipped.',
})

export const zookeeperVersions: Readonly<Record<OtherVersion, Need>> = {
  '3.4.13': otherVersion('3.4.13'),
  '3.9.3': otherVersion('3.9.3'),
  '3.9.6': otherVersion('3.9.6'),
}

export const jdk = debian('default-jdk-headless', {
  name: 'javac',
  why: 'compiles the programs that use the Java classes of ZooKeeper and Curator',
  isInstalled: () => Boolean(process.env['JAVA_HOME']) || succeeds('javac', '-version'),
  alternatives: 'apt-get install default-jdk-headless; point JAVA_HOME at any JDK from 11 on.',
})

export const chromium = debian('chromium', {
  name: 'Chromium',
  why: 'opens the pages that are tested',
  isInstalled: hasFile('/usr/bin/chromium'),
})

export const curator = debian('libcurator-recipes-java', {
  name: 'Apache Curator',
  why: 'shares locks and data with our recipes',
  isInstalled: () =>
    ['curator-recipes', 'zookeeper-recipes-lock'].every(name => existsSync(join(DEBIAN_JARS, `${name}.jar`))),
})

export const curatorDiscovery = debian('libcurator-discovery-java', {
  name: "Curator's service discovery",
  why: 'shares services with ours',
  isInstalled: hasFile(join(DEBIAN_JARS, 'curator-x-discovery.jar')),
})

export const kazoo = debian('python3-kazoo', {
  name: 'kazoo',
  why: 'a client of another library, whose sessions, locks and data are compared with ours',
  isInstalled: () => succeeds(PYTHON, '-c', 'import kazoo'),
})

/** The file that says that a package of a suite was unpacked. */
export const unpackedMark = (suite: string, packageName: string): string =>
  join(root, '.cache/debian', suite, `${packageName}.unpacked`)

const ofSuite = (suite: string, packages: readonly string[], name: string, why: string): SuitePackages => ({
  ...{ suite, packages, name: `${name} of Debian ${suite}`, why },
  how: `apt-get download of another suite of Debian, unpacked in .cache/debian/${suite}`,
  isInstalled: () => packages.every(each => existsSync(unpackedMark(suite, each))),
  alternatives: 'none; without it, its tests are skipped, and the benchmark does without it.',
})

const sharesLocks = 'the newest one that Debian has, which shares locks and data with our recipes'

/** Runs with the ZooKeeper of the same suite, {@link zookeeperVersions}. */
export const newestCurator = ofSuite(
  'trixie',
  [
    ...['client', 'framework', 'recipes', 'discovery'].map(name => `libcurator-${name}-java`),
    'libguava-java',
    'libzookeeper-java',
  ],
  'Apache Curator',
  sharesLocks,
)

export const newestKazoo = ofSuite('sid', ['python3-kazoo'], 'kazoo', sharesLocks)

export const goZooKeeper = ofSuite(
  'sid',
  ['golang-github-go-zookeeper-zk-dev'],
  'go-zookeeper',
  'the client of Go, whose lock is shared with ours',
)

export const go = debian('golang-go', {
  name: 'Go',
  why: 'compiles the programs that use go-zookeeper',
  isInstalled: () => succeeds('go', 'version'),
})

export const CLI_MT = '/usr/lib/zookeeper/bin/cli_mt'

export const cClientShell = debian('zookeeper-bin', {
  name: 'the C client’s cli_mt',
  why: 'a client of another library, on the embedded server',
  isInstalled: hasFile(CLI_MT),
})

export const C_HEADERS = '/usr/include/zookeeper'

export const cCompiler = debian('build-essential', {
  name: 'gcc',
  why: 'compiles zoo_lock, the lock of the C client',
  isInstalled: hasFile('/usr/bin/gcc'),
})

export const cClient = debian('libzookeeper-mt-dev', {
  name: 'the C client',
  why: 'runs zoo_lock, its lock',
  isInstalled: hasFile(join(C_HEADERS, 'zookeeper.h')),
})

/** bench/peers fetches them, and does without them if it cannot. */
export const cSources: Need = {
  name: 'the sources of zoo_lock',
  why: 'no package has the lock of the C client',
  how: 'apt-get source zookeeper, in .cache/peers-c',
  isInstalled: hasFile(join(root, '.cache/peers-c/zookeeper')),
  alternatives: 'none; without them its lock is not measured.',
}

const kerberosPackages = [
  ['krb5-kdc', '/usr/sbin/krb5kdc'],
  ['krb5-admin-server', '/usr/sbin/kadmin.local'],
  ['krb5-user', '/usr/bin/kinit'],
  ['libkrb5-dev', '/usr/include/gssapi/gssapi.h'],
] as const

/** Returns the path of libfaketime, which is in a folder named after the machine. */
export const fakeTime = (): string | undefined =>
  readdirSync('/usr/lib')
    .map(name => `/usr/lib/${name}/faketime/libfaketime.so.1`)
    .find(file => existsSync(file))

export const kerberos: readonly DebianPackage[] = [
  ...kerberosPackages.map(([name, file]) =>
    debian(name, { name, why: 'MIT Kerberos, for authentication by GSSAPI', isInstalled: hasFile(file) }),
  ),
  debian('libfaketime', {
    name: 'libfaketime',
    why: 'makes a clock wrong, which Kerberos refuses',
    isInstalled: () => fakeTime() !== undefined,
  }),
]

export const postgresql = debian('postgresql', {
  name: 'PostgreSQL',
  why: 'keeps the fenced row of docs/fencing.md',
  isInstalled: hasFile('/usr/lib/postgresql'),
})

export const redisServer = debian('redis-server', {
  name: 'Redis',
  why: 'a lock service that is compared with ZooKeeper',
  isInstalled: hasFile('/usr/bin/redis-server'),
})

export const etcdServer = debian('etcd-server', {
  name: 'etcd',
  why: 'a lock service that is compared with ZooKeeper',
  isInstalled: hasFile('/usr/bin/etcd'),
})

const terminalProgram = (name: string, why: string) =>
  debian(name, { name, why, isInstalled: hasFile(`/usr/bin/${name}`) })

export const tcpdump = terminalProgram('tcpdump', 'captures what `zkwire explain` reads')
export const tshark = terminalProgram('tshark', 'reads captures with the dissector of `zkwire wireshark`')
export const tmux = terminalProgram('tmux', 'the terminal of the interactive shell')
export const shells = [
  terminalProgram('zsh', 'completes the words of `zkwire`'),
  terminalProgram('fish', 'completes the words of `zkwire`'),
]

const npmTools = (
  suite: string,
  name: string,
  why: string,
  dependencies: Readonly<Record<string, string>>,
): NpmTools => {
  const directory = join(root, '.cache', suite)
  const manifest = JSON.stringify({ private: true, dependencies })
  const complete = join(directory, 'complete.json')
  return {
    ...{ name, why, directory, manifest, how: `npm install, in .cache/${suite}`, alternatives: 'none.' },
    isInstalled: () => existsSync(complete) && readFileSync(complete, 'utf8') === manifest,
  }
}

/** The name under which npm has the binary of a Node release line for this machine. */
const nodeBinary = (range: string): string => `npm:node-${process.platform}-${process.arch}@${range}`

const clients = { 'node-zookeeper-client': '1.1.3', zookeeper: '7.3.0' }

export const nodeZooKeeperClient = npmTools(
  'peers',
  'node-zookeeper-client',
  'a client of another library, which is compared with ours',
  { 'node-zookeeper-client': clients['node-zookeeper-client'] },
)

/** Both, in one folder: the binding needs a C compiler, make and Python. */
export const nodeClients: NpmTools = {
  ...npmTools('clients', 'npm zookeeper', 'the C client in Node, which is compared with ours', clients),
  compiled: 'zookeeper',
}

/** The clients of other lock services, as npm has them. */
export const serviceClients = { redlock: '5.0.0-beta.2', ioredis: '5.11.1', etcd3: '1.1.2' }

export const lockClients = npmTools(
  'services',
  'npm redlock and etcd3',
  'the locks of Redis and etcd that programs take from npm',
  serviceClients,
)

export const kerberosModule = npmTools('kerberos', 'the npm package kerberos', 'the caller’s part of GSSAPI', {
  kerberos: '7.0.0',
})

/** The tools of users, with the oldest TypeScript that the README names, and the newest. */
export const usersTools = npmTools('package', 'the tools of users', 'use the packed package, on three Nodes', {
  ...{ 'node-20': nodeBinary('~20.19.0'), 'node-22': nodeBinary('^22.0.0'), 'node-24': nodeBinary('^24.0.0') },
  ...{ jest: '^30.0.0', 'babel-jest': '^30.0.0', '@babel/preset-env': '^7.0.0', 'ts-jest': '^29.4.0' },
  ...{ '@types/jest': '^30.0.0', '@types/node': '^20.19.0', '@cloudflare/workers-types': '^5.0.0', vitest: '^4.1.0' },
  ...{ esbuild: '^0.28.0', rollup: '^4.0.0', '@rollup/plugin-node-resolve': '^16.0.0', vite: '^8.0.0' },
  ...{ '@rollup/plugin-commonjs': '^29.0.0', webpack: '^5.0.0', 'webpack-cli': '^7.0.0' },
  ...{ '@opentelemetry/api': '^1.9.1', zod: '^4.0.0', valibot: '^1.0.0' },
  ...{ publint: '^0.3.0', '@arethetypeswrong/cli': '^0.18.0' },
  typescript: '~6.0.0',
  'typescript-oldest': 'npm:typescript@~5.2.0',
  'typescript-newest': 'npm:typescript@^7.0.0',
})

/** The oldest Node that package.json allows, the newest of each later release line, and the other runtimes. */
export const runtimes = npmTools('runtimes', 'the runtimes', 'each of them passes the same tests', {
  ...{ 'node-20': nodeBinary('~20.19.0'), 'node-22': nodeBinary('^22.0.0'), 'node-24': nodeBinary('^24.0.0') },
  ...{ 'node-26': nodeBinary('^26.0.0'), bun: '^1.4.0', deno: '^2.9.0', miniflare: '^4.0.0', wrangler: '^4.0.0' },
  ...{ mocha: '^12.0.0', vitest: '^4.1.0' },
})

/** What examples/web and examples/nest depend on. */
export const webFrameworks = npmTools('web', 'Fastify and NestJS', 'run the examples of a web service', {
  ...{ fastify: '^5.12.0', '@nestjs/common': '^12.5.0', '@nestjs/core': '^12.5.0' },
  ...{ '@nestjs/platform-express': '^12.5.0', '@nestjs/terminus': '^12.1.0', 'reflect-metadata': '^0.2.2' },
  ...{ rxjs: '^7.8.2', '@types/node': '^20.19.43' },
})

export const workerd = npmTools('workerd', 'workerd', 'the runtime of Cloudflare Workers', { workerd: '^1.0.0' })

/** StrykerJS 10 needs Node 22, and runs mocha 11 at most. */
export const mutationTools = npmTools('mutants-tools', 'StrykerJS', 'makes the mutants', {
  node: nodeBinary('^22.0.0'),
  '@stryker-mutator/core': '10.0.0',
  '@stryker-mutator/mocha-runner': '10.0.0',
  mocha: '^11.0.0',
  ...{ chai: '^6.0.0', 'fast-check': '^4.0.0', tsx: '^4.0.0', '@typescript/typescript6': '^6.0.0' },
})

/** The script `site:install` installs them. */
export const siteTools: Need = {
  name: 'the tools of the site',
  why: 'check, lint and build the site',
  how: 'npm ci --prefix site',
  isInstalled: hasFile(join(root, 'site/node_modules')),
  alternatives: 'none.',
}
