// `npm run bench -- cache`: loads one tree into a Cache and into Curator's CuratorCache, each in a process of its own, and
// compares time and memory. See bench/README.md.
// May import: src/index.ts, src/recipes/index.ts, environment.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { connect } from '../../src/index.ts'
import { CURATOR_JARS, provideCurator } from '../../environment/other-libraries.ts'
import { startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { JavaProgram } from '../../environment/java-program.ts'
import { SubprocessRpc } from '../../environment/subprocess-rpc.ts'

const { values } = parseArgs({
  options: {
    directories: { type: 'string', default: '1000' },
    children: { type: 'string', default: '9' },
    bytes: { type: 'string', default: '100' },
    loads: { type: 'string', default: '5' },
    runs: { type: 'string', default: '3' },
  },
})
const [directories, children, bytes] = [values.directories, values.children, values.bytes].map(Number) as [
  number,
  number,
  number,
]

interface Figures {
  nodes: number
  /** The milliseconds of each load. The first one includes what the runtime compiles. */
  times: number[]
  /** Bytes after a forced collection: the heap, and buffers outside it. */
  used: number
  /** The same after the cache is closed. */
  without: number
}

const starts: Record<string, (args: readonly string[]) => Promise<SubprocessRpc>> = {
  zkwire: args => {
    const file = fileURLToPath(new URL('zkwire-tree.ts', import.meta.url))
    return Promise.resolve(new SubprocessRpc(process.execPath, ['--expose-gc', '--import', 'tsx', file, ...args]))
  },
  Curator: async args => {
    await provideCurator()
    return JavaProgram.start(new URL('CuratorTree.java', import.meta.url), { jars: CURATOR_JARS, args })
  },
}

async function measure(library: string): Promise<Figures> {
  const program = await starts[library]?.([server.connectString, '/tree', values.loads])
  if (program === undefined) throw new Error(`unknown library: ${library}`)
  const figures = JSON.parse(await program.request('')) as Figures
  await program.close()
  return figures
}

const server = await startApacheZooKeeper()
const zk = await connect(server.connectString)
await zk.create('/tree')
const data = Buffer.alloc(bytes, 'x')
for (let i = 0; i < directories; i++) {
  const create = `/tree/directory-${String(i).padStart(5, '0')}`
  await zk.multi([
    { create, data },
    ...Array.from({ length: children }, (_, k) => ({ create: `${create}/node-${k}`, data })),
  ])
}
console.log(`${directories} nodes with ${children} children each, ${bytes} bytes of data each; ${values.loads} loads`)
console.log('library    nodes   first load   median load   retained   per node')
for (let run = 0; run < Number(values.runs); run++)
  for (const library of Object.keys(starts)) {
    const { nodes, times, used, without } = await measure(library)
    const [first = 0] = times
    const median = times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0
    // The node at the top has no data.
    const retained = used - without - (nodes - 1) * bytes
    const cells = [
      String(nodes).padStart(6),
      `${first.toFixed(0)} ms`.padStart(10),
      `${median.toFixed(0)} ms`.padStart(11),
    ]
    cells.push(`${(retained / 1000).toFixed(0)} kB`.padStart(8), `${(retained / nodes).toFixed(0)} B`.padStart(8))
    console.log([library.padEnd(7), ...cells].join('   '))
  }
await zk.close()
await server.close()
