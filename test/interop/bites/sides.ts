// The programs of the other libraries: the prelude of each language, and how it is run.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installTools } from '../../../environment/installed-tools.ts'
import { javaCommand } from '../../../environment/java-program.ts'
import { PYTHON, root, type NpmTools } from '../../../environment/needs.ts'
import { CURATOR_JARS, provideCurator, provideKazoo } from '../../../environment/other-libraries.ts'
import { TIMEOUT, type Command } from './stage.ts'

/** Prepares the programs, and resolves with a function that returns the command of one of them for a connect string. */
export type Side = (programs: readonly string[]) => Promise<(i: number, hosts: string) => Command>

const FOLDER = join(root, '.cache', 'bites')

const IMPORTS = [
  ...['java.util.*', 'java.util.concurrent.*', 'org.apache.zookeeper.CreateMode', 'org.apache.curator.retry.*'],
  ...['', '.api', '.state'].map(name => `org.apache.curator.framework${name}.*`),
  ...['cache', 'leader', 'locks'].map(name => `org.apache.curator.framework.recipes.${name}.*`),
]

/** One class with a method for each program, because compiling it takes seconds. */
export const javaSide: Side = async programs => {
  await provideCurator()
  const file = join(FOLDER, 'Bites.java')
  mkdirSync(FOLDER, { recursive: true })
  const methods = programs.map(
    (body, i) => `static void bite${i}(String hosts, CuratorFramework curator) throws Exception {${body}}`,
  )
  writeFileSync(
    file,
    `
    ${IMPORTS.map(name => `import ${name};`).join('\n')}
    public class Bites {
      static CuratorFramework start(String hosts, ConnectionStateErrorPolicy policy) throws Exception {
        CuratorFramework curator = CuratorFrameworkFactory.builder().connectString(hosts).sessionTimeoutMs(${TIMEOUT})
          .connectionTimeoutMs(1000).retryPolicy(new ExponentialBackoffRetry(50, 10)).connectionStateErrorPolicy(policy).build();
        curator.start();
        curator.blockUntilConnected();
        return curator;
      }
      static void fault(String words) throws Exception {
        System.out.println("!" + words);
        System.in.read();
      }
      public static void main(String[] args) throws Exception {
        try (CuratorFramework curator = start(args[1], new StandardConnectionStateErrorPolicy())) {
          Bites.class.getDeclaredMethod("bite" + args[0], String.class, CuratorFramework.class).invoke(null, args[1], curator);
        }
      }
      ${methods.join('\n')}
    }`,
  )
  const [java, ...args] = await javaCommand(pathToFileURL(file), { jars: CURATOR_JARS })
  return (i, hosts) => [java, '-Dorg.slf4j.simpleLogger.defaultLogLevel=off', ...args, String(i), hosts]
}

const PYTHON_PRELUDE = `
import datetime, logging, sys, threading, time, queue
from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import *
from kazoo.retry import KazooRetry
logging.disable()
def show(*words): print(*words, flush=True)
def fault(words):
    show('!' + words)
    sys.stdin.readline()
def until(condition):
    while not condition(): time.sleep(0.01)
hosts = sys.argv[1]
zk = KazooClient(hosts=hosts, timeout=${TIMEOUT / 1000})
zk.start()
`

/** The programs are not indented, as Python requires. */
export const pythonSide: Side = async programs => {
  await provideKazoo()
  return (i, hosts) => [PYTHON, '-c', `${PYTHON_PRELUDE}${programs[i]}\nzk.stop()`, hosts]
}

/** A program gets `module`, the library, and `hosts`; `print` and `fault`. */
export const nodeSide =
  (tools: NpmTools): Side =>
  async programs => {
    const folder = await installTools(tools)
    const name = tools.name.replace('npm ', '')
    const prelude = `
      const library = require('${join(folder, name)}')
      const hosts = process.argv[1]
      const lines = require('node:readline').createInterface({ input: process.stdin })
      const print = console.log.bind(console)
      console.log = () => undefined // the binding prints too
      const fault = words => new Promise(resolve => { lines.once('line', resolve); print('!' + words) })
      const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))
      const TIMEOUT = ${TIMEOUT}
      const main = async () => {`
    return (i, hosts) => [process.execPath, '-e', `${prelude}${programs[i]}}\nmain().then(() => process.exit())`, hosts]
  }
