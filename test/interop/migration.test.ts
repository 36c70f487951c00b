// The pages for those who come from another library: the code before, of that library, and the code after, of zkwire, run on
// one server. They must print the same, and leave the same nodes.
import { expect } from 'chai'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type Client } from '../../src/index.ts'
import { ChildProgram } from '../../environment/child-program.ts'
import { findApacheZooKeeper } from '../../environment/find-apache-zookeeper.ts'
import { freePort } from '../../environment/free-port.ts'
import { installTools } from '../../environment/installed-tools.ts'
import { javaCommand } from '../../environment/java-program.ts'
import { nodeClients, nodeZooKeeperClient, PYTHON, root, type NpmTools } from '../../environment/needs.ts'
import { provideDiscovery, provideKazoo } from '../../environment/other-libraries.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { readDocument, writeScript } from '../support/document.ts'
import { until } from '../../environment/until.ts'
import { sharedServer } from '../support/shared-server.ts'

type Command = readonly [program: string, ...args: string[]]

interface Pair {
  heading: string
  before: string
  after: string
}

/** Returns the sections of a page that have two blocks of code. */
function pairsOf(page: string, language: string): Pair[] {
  const block = (name: string, text: string) => new RegExp(`^\`\`\`${name}\\n([^]*?)^\`\`\`$`, 'm').exec(text)?.[1]
  return readDocument(page)
    .split(/^## /m)
    .flatMap(section => {
      const [before, after] = [block(language, section), block('ts', section)]
      if (before === undefined && after === undefined) return []
      const heading = section.slice(0, section.indexOf('\n'))
      if (before === undefined || after === undefined) throw new Error(`${page}: ${heading} lacks a block`)
      return [{ heading, before, after }]
    })
}

interface Origin {
  page: string
  language: string
  /** The section about a lock, which both libraries can hold at the path /app/lock. */
  lock?: { heading: string; dialect: 'curator' | 'kazoo' }
  /** Installs the library, writes the blocks of all pairs to files, and returns the commands that run them. */
  prepare: (blocks: readonly string[], connectString: string) => Promise<readonly Command[]>
}

const folderOf = (page: string) => {
  const folder = join(root, '.cache', page.replace(/^docs\/(.*)\.md$/, '$1'))
  mkdirSync(folder, { recursive: true })
  return folder
}

const nodeOrigin = (page: string, tools: NpmTools): Origin => ({
  page,
  language: 'js',
  prepare: async (blocks, connectString) => {
    const modules = await installTools(tools)
    return blocks.map((code, i) => {
      const file = join(folderOf(page), `before-${i}.cjs`)
      // Node looks for a package only above the file.
      const text = code.replaceAll(/require\('([\w-]+)'\)/g, (_, name: string) => `require('${join(modules, name)}')`)
      writeFileSync(file, text.replaceAll('localhost:2181', connectString))
      return [process.execPath, file]
    })
  },
})

const JAVA_IMPORTS = [
  ...['java.util.*', 'java.util.concurrent.*', 'org.apache.zookeeper.CreateMode'],
  ...['', '.api.transaction', '.state'].map(name => `org.apache.curator.framework${name}.*`),
  ...['atomic', 'cache', 'leader', 'locks', 'shared'].map(name => `org.apache.curator.framework.recipes.${name}.*`),
  ...['retry', 'x.discovery'].map(name => `org.apache.curator.${name}.*`),
]

/** Makes one program of all blocks. Its argument chooses the block. */
const javaProgram = (blocks: readonly string[], connectString: string): string =>
  `
  ${JAVA_IMPORTS.map(name => `import ${name};`).join('\n')}
  public class Before {
    public static void main(String[] args) throws Exception {
      try (CuratorFramework curator = CuratorFrameworkFactory.newClient("localhost:2181", new RetryOneTime(100))) {
        curator.start();
        curator.blockUntilConnected();
        Before.class.getDeclaredMethod("block" + args[0], CuratorFramework.class).invoke(null, curator);
      }
    }
    ${blocks.map((code, i) => `static void block${i}(CuratorFramework curator) throws Exception {\n${code}}`).join('\n')}
  }`.replaceAll('localhost:2181', connectString)

/** kazoo's harness starts servers that listen on all interfaces. This makes it one that listens on loopback only. */
const harnessOnLoopback = async (): Promise<string> => `
import atexit
from kazoo.testing import harness
from kazoo.testing.common import ZookeeperCluster
cluster = ZookeeperCluster(classpath='${await findApacheZooKeeper()}', size=1, port_offset=${await freePort()}, configuration_entries=[
    'clientPortAddress=127.0.0.1', 'admin.enableServer=false', '4lw.commands.whitelist=*'])
atexit.register(cluster.terminate)
harness.get_global_cluster = lambda: cluster
`

const origins: readonly Origin[] = [
  nodeOrigin('docs/from-node-zookeeper-client.md', nodeZooKeeperClient),
  nodeOrigin('docs/from-zookeeper.md', nodeClients),
  {
    ...{ page: 'docs/from-curator.md', language: 'java' },
    lock: { heading: 'InterProcessMutex', dialect: 'curator' },
    prepare: async (blocks, connectString) => {
      const jars = await provideDiscovery()
      const file = join(folderOf('docs/from-curator.md'), 'Before.java')
      writeFileSync(file, javaProgram(blocks, connectString))
      const [java, ...args] = await javaCommand(pathToFileURL(file), { jars })
      const silent = '-Dorg.slf4j.simpleLogger.defaultLogLevel=off'
      return blocks.map((_, i) => [java, silent, ...args, String(i)] as const)
    },
  },
  {
    ...{ page: 'docs/from-kazoo.md', language: 'python' },
    lock: { heading: 'Lock', dialect: 'kazoo' },
    prepare: async (blocks, connectString) => {
      await provideKazoo()
      const harness = await harnessOnLoopback()
      return blocks.map(code => {
        const prelude = code.includes('kazoo.testing') ? harness : ''
        return [PYTHON, '-c', prelude + code.replaceAll('localhost:2181', connectString)] as const
      })
    },
  },
]

/** Resolves with what the program prints. */
async function printedBy([program, ...args]: Command): Promise<string> {
  const { status, out, err } = await new ChildProgram(args, { program }).ended
  expect(status, out + err).to.equal(0)
  return out
}

/** Returns a line for each node of the subtree: its path, its data and its ACL. */
async function treeOf(client: Client, path: string): Promise<string[]> {
  if ((await client.exists(path)) === null) return []
  const { acl } = await client.getACL(path)
  const identities = acl.map(({ perms, id: { scheme, id } }) => `${scheme}:${id}:${perms}`)
  const { children } = await client.getChildren(path)
  const below = await Promise.all(children.sort().map(name => treeOf(client, `${path}/${name}`)))
  const { data } = await client.getData(path)
  return [`${path} ${data?.toString('latin1')} ${identities.join()}`, ...below.flat()]
}

for (const { page, language, lock, prepare } of origins)
  describe(page, function () {
    this.timeout(120_000)
    const pairs = pairsOf(page, language)
    let commands: readonly Command[]
    let server: string
    let zk: Client

    before(async function () {
      this.timeout(600_000)
      server = (await sharedServer()).connectString
      commands = await prepare(
        pairs.map(({ before }) => before),
        server,
      )
      zk = await connect(server, { auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
    })
    after(() => zk.close())
    afterEach(() => zk.deleteRecursive('/app'))

    async function observe(command: Command): Promise<{ output: string; tree: string[] }> {
      await zk.deleteRecursive('/app')
      const output = await printedBy(command)
      return { output, tree: await treeOf(zk, '/app') }
    }

    const commandAfter = async (i: number, code: string): Promise<Command> => {
      const name = join(folderOf(page), `after-${i}`).slice(join(root, '.cache').length)
      return [process.execPath, await writeScript(name, code, server)]
    }

    if (lock !== undefined)
      it(`“${lock.heading}”: both libraries wait in one queue`, async () => {
        const i = pairs.findIndex(({ heading }) => heading === lock.heading)
        const held = await new Mutex(zk, '/app/lock', { dialect: lock.dialect }).acquire()
        const programs = [commands[i] as Command, await commandAfter(i, pairs[i]?.after ?? '')].map(printedBy)
        const isOver = Promise.race(programs).then(() => true)
        await until(async () => (await zk.getChildren('/app/lock')).children.length === 3)
        expect(await Promise.race([isOver, pause(100, false)])).to.equal(false)
        await held.release()
        const [before, after] = await Promise.all(programs)
        expect(after).to.equal(before)
      })

    for (const [i, { heading, after }] of pairs.entries())
      it(`“${heading}”: both libraries print the same, and leave the same nodes`, async () => {
        const before = await observe(commands[i] as Command)
        const ours = await observe(await commandAfter(i, after))
        expect(ours.output).to.equal(before.output).and.not.to.equal('')
        expect(ours.tree).to.deep.equal(before.tree)
      })
  })

describe('docs/from-kazoo.md', () => {
  it('is right that expire_session() leaves ephemeral nodes, and that expireSession() does not', async () => {
    const code = `${await harnessOnLoopback()}
import threading
case = harness.KazooTestCase()
case.setUp()
case.client.create('/here', ephemeral=True)
case.expire_session(threading.Event)
print(case.client.exists('/here') is not None)
case.tearDown()`
    expect(await printedBy([PYTHON, '-c', code])).to.equal('True\n')
    await using server = await Server.start()
    await using zk = await connect(server.connectString)
    await zk.create('/here', '', { mode: 'ephemeral' })
    server.expireSession(zk.sessionId)
    expect(server.snapshot().nodes.has('/here')).to.equal(false)
  }).timeout(60_000)
})

describe('docs/from-node-zookeeper-client.md', () => {
  it('has all methods of the client and of its transactions', async () => {
    const modules = join(await installTools(nodeZooKeeperClient), 'node-zookeeper-client')
    const sources = ['index.js', 'lib/Transaction.js'].map(file => readFileSync(join(modules, file), 'utf8'))
    const methods = sources.flatMap(text =>
      [...text.matchAll(/^(?:Client|Transaction)\.prototype\.(\w+) = /gm)].map(([, name = '']) => name),
    )
    expect(methods).to.have.length(25)
    const used = pairsOf('docs/from-node-zookeeper-client.md', 'js')
      .map(({ before }) => before)
      .join('')
    const internal = ['onConnectionManagerState']
    expect(methods.filter(name => !used.includes(`.${name}(`) && !internal.includes(name))).to.deep.equal([])
  })

  it('is right that errors have no path, and that subtrees are neither listed nor removed as a whole', async () => {
    const server = (await sharedServer()).connectString
    const modules = await installTools(nodeZooKeeperClient)
    const zk = await connect(server)
    await zk.ensurePath('/app/a/b')
    const script = `
      const client = require('${modules}/node-zookeeper-client').createClient('${server}')
      client.once('connected', () => {
        client.getData('/missing', error => console.log(error.getPath()))
        client.listSubTreeBFS('/app', (error, paths) => console.log(paths.join()))
        client.removeRecursive('/app', error => { console.log(error.getName()); client.close() })
      })
      client.connect()`
    expect(await printedBy([process.execPath, '-e', script])).to.equal('undefined\n/app,/app/a\nNOT_EMPTY\n')
    await zk.deleteRecursive('/app')
    await zk.close()
  })
})

describe('docs/from-zookeeper.md', () => {
  it('names all methods of the client', async () => {
    const modules = await installTools(nodeClients)
    const source = readFileSync(join(modules, 'zookeeper', 'lib', 'zk_promise.js'), 'utf8')
    const methods = [...source.matchAll(/^ {4}(?:async )?([a-z]\w+)\(/gm)].map(([, name = '']) => name)
    expect(methods).to.include.members(['create', 'w_get_children2', 'reconfig']).and.have.length.above(20)
    const page = readDocument('docs/from-zookeeper.md')
    expect(methods.filter(name => name !== 'promisify' && !page.includes(`${name}(`))).to.deep.equal([])
  })

  it('is right that mkdirp() writes data, and that errors have no code', async () => {
    const server = (await sharedServer()).connectString
    const modules = await installTools(nodeClients)
    const script = `
      const ZooKeeper = require('${modules}/zookeeper')
      const client = new ZooKeeper({ connect: '${server}', timeout: 10000, debug_level: 1 })
      client.init()
      client.on_connected().then(async () => {
        await new Promise(resolve => client.mkdirp('/app/a', resolve))
        const [stat, data] = await client.get('/app/a', false)
        console.log(String(data), typeof stat.czxid, typeof stat.ephemeralOwner)
        await client.exists('/app/b', false).catch(error => console.log(error.message, error.code))
        client.close()
      })`
    const printed = await printedBy([process.execPath, '-e', script])
    expect(printed).to.equal('created by zk-mkdir-p number string\n-101 no node undefined\n')
    const zk = await connect(server)
    await zk.deleteRecursive('/app')
    await zk.close()
  })
})
