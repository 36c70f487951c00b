// Other versions of Apache ZooKeeper than Debian's stable one: distributions made of packages of other suites of Debian.
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { unpacked, type Suite } from './debian-suite.ts'
import { homeOf, zookeeperVersions, type OtherVersion } from './needs.ts'
import { expectDeclared } from './suites.ts'

/** A package of a suite, and the jars of it that the server needs. */
type Part = readonly [suite: Suite, packageName: string, ...jars: string[]]

const jetty = ['util', 'io', 'http', 'security', 'server', 'servlet'].map(name => `jetty9-${name}`)
const netty = ['resolver', 'transport', 'transport-native-unix-common', 'transport-native-epoll', 'codec', 'handler']

/** What the server of 3.9 needs beside ZooKeeper's own jars, in the order in which one jar needs another. */
const common = (suite: Suite): readonly Part[] => [
  [suite, 'libcommons-cli-java', 'commons-cli'],
  [suite, 'libcommons-io-java', 'commons-io'],
  [suite, 'libservlet-api-java', 'servlet-api'],
  [suite, 'libdropwizard-metrics-java', 'metrics-core'],
  [suite, 'libsnappy-java', 'snappy-java'],
  [suite, 'libjetty9-java', ...jetty],
  [suite, 'libjetty9-extra-java', 'jetty9-util-ajax', 'jetty9-client'],
  [suite, 'libnetty-java', ...netty.map(name => `netty-${name}`)],
  [suite, 'libnetty-tcnative-java', 'netty-tcnative'],
  [suite, 'liblog4j1.2-java', 'log4j-1.2'],
  [suite, 'libjline2-java', 'jline2'],
  [suite, 'libjline3-java', 'jline3', 'jline3-terminal', 'jline3-reader'],
]

const logger = (suite: Suite): Part => [suite, 'libslf4j-java', 'slf4j-api', 'slf4j-simple']

/** Those of sid are compiled for Java 21, those of trixie for Java 8. */
const jackson = ['annotations', 'core', 'databind'].map((name): Part => [
  'trixie',
  `libjackson2-${name}-java`,
  `jackson-${name}`,
])

const parts: Readonly<Record<OtherVersion, readonly Part[]>> = {
  '3.4.13': [
    logger('bullseye'),
    ['bullseye', 'liblog4j1.2-java', 'log4j-1.2'],
    ['bullseye', 'libjline-java', 'jline'],
    ['bullseye', 'libzookeeper-java', 'zookeeper-3.4.13'],
  ],
  '3.9.3': [
    ...[logger('trixie'), ...jackson],
    ['trixie', 'libnetty-java', 'netty-common', 'netty-buffer'],
    ...common('trixie'),
    ['trixie', 'libzookeeper-java', 'zookeeper-jute', 'zookeeper-3.9.3'],
  ],
  '3.9.6': [
    ...[logger('sid'), ...jackson],
    ['sid', 'libnetty-common-java', 'netty-common'],
    ['sid', 'libnetty-buffer-java', 'netty-buffer'],
    ...common('sid'),
    ['sid', 'libzookeeper-java', 'zookeeper-jute', 'zookeeper-3.9.6'],
  ],
}

/** Returns the suite of Debian that has the version. */
export const suiteOf = (version: OtherVersion): Suite => parts[version].at(-1)?.[0] ?? ''

/**
 * Lays a version out as a binary distribution, unless an earlier run has. Resolves with its folder.
 * @throws Error if this machine cannot download it
 */
export async function layOut(version: OtherVersion): Promise<string> {
  const need = zookeeperVersions[version]
  expectDeclared(need)
  const home = homeOf(version)
  if (await need.isInstalled()) return home
  process.stderr.write(`${need.name} is missing: ${need.how}\n`)
  const roots = new Map<Suite, string>()
  for (const suite of new Set(parts[version].map(([each]) => each))) {
    const packages = parts[version].filter(([each]) => each === suite).map(([, packageName]) => packageName)
    roots.set(suite, await unpacked(suite, [...new Set(packages)]))
  }
  const unfinished = `${home}.part`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(join(unfinished, 'lib'), { recursive: true })
  let place = 100
  for (const [suite, , ...jars] of parts[version])
    for (const jar of jars) {
      // A manifest of Debian names the installed jars. A jar that comes before it on the class path takes precedence, so
      // the jars are numbered in the order of need; letters come after digits.
      const name = jar.startsWith('zookeeper-3') ? jar : `${place++}-${jar}`
      await copyFile(
        join(roots.get(suite) ?? '', 'usr/share/java', `${jar}.jar`),
        join(unfinished, 'lib', `${name}.jar`),
      )
    }
  await rm(home, { recursive: true, force: true })
  await rename(unfinished, home)
  return home
}
