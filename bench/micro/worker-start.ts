// `npm run bench -- worker`: the processor time in which workerd, the runtime of Cloudflare Workers, starts a worker with
// the client, beside an empty worker, and beside the same bundle in Node. `-- old=bundle.js` also starts another bundle,
// such as one of an older commit.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installTools } from '../../environment/installed-tools.ts'
import { root, workerd } from '../../environment/needs.ts'
import { median } from '../measure/statistics.ts'
import { ratioOf } from '../measure/ratio.ts'
import { bundleOf } from './size.ts'

/** One start lasts a few milliseconds and is disturbed by as many, so each process starts many workers. */
const WORKERS = 20
const ROUNDS = 24

const EMPTY = 'an empty worker'
const OURS = 'connect of zkwire/cloudflare, Mutex'
const ALONE = 'an empty worker alone'

const worker = (imports: string, ...used: string[]): string =>
  `${imports}; export default { fetch: () => new Response([${used.join()}].map(each => each.length).join()) }`

const sources = {
  [EMPTY]: worker(''),
  'Buffer and a channel of Node': worker(
    "import { channel } from 'node:diagnostics_channel'; const bytes = Buffer.alloc(1)",
    'bytes',
    'channel',
  ),
  [OURS]: worker(
    "import { connect } from 'zkwire/cloudflare'; import { Mutex } from 'zkwire/recipes'",
    'connect',
    'Mutex',
  ),
  'Sessions of zkwire/cloudflare, Mutex': worker(
    "import { Sessions } from 'zkwire/cloudflare'; import { Mutex } from 'zkwire/recipes'",
    'Sessions',
    'Mutex',
  ),
  'connect of zkwire with its dial, Mutex': worker(
    "import { connect } from 'zkwire'; import { cloudflare } from 'zkwire/cloudflare'; import { Mutex } from 'zkwire/recipes'",
    'connect',
    'cloudflare',
    'Mutex',
  ),
}

const program = join(await installTools(workerd), 'workerd', 'bin', 'workerd')
const folder = join(root, '.cache', 'worker-start')

const bundles = new Map<string, string>()
for (const [name, source] of Object.entries(sources)) bundles.set(name, (await bundleOf(source)).code)
for (const given of process.argv.slice(2)) {
  const [name = '', file = ''] = given.split('=')
  bundles.set(name, await readFile(file, 'utf8'))
}

const directories = new Map<string, string>()
for (const [name, code] of [...bundles, [ALONE, bundles.get(EMPTY) ?? ''] as const]) {
  const directory = join(folder, String(directories.size))
  const services = Array.from(
    { length: name === ALONE ? 1 : WORKERS },
    (_, i) => `(name = "${i}", worker = .client)`,
  ).join(', ')
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [${services}],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "0")]);
const client :Workerd.Worker = (modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-04-01", compatibilityFlags = ["nodejs_compat"]);`
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'worker.js'), code)
  await writeFile(join(directory, 'node.mjs'), code.replaceAll('"cloudflare:sockets"', '"node:net"'))
  await writeFile(join(directory, 'config.capnp'), config)
  directories.set(name, directory)
}

/** Starts workerd with the workers, and returns how long its threads ran until it listens, in milliseconds. */
async function start(directory: string): Promise<number> {
  const child = spawn(program, ['serve', '--control-fd=1', 'config.capnp'], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  await Promise.race([once(child.stdout, 'data'), closed])
  if (child.exitCode !== null) throw new Error(`workerd ended with ${child.exitCode}`)
  const threads = `/proc/${child.pid}/task`
  const times = (await readdir(threads)).map(async thread => {
    const [nanoseconds] = (await readFile(`${threads}/${thread}/schedstat`, 'utf8')).split(' ')
    return Number(nanoseconds) / 1e6
  })
  const cpu = (await Promise.all(times)).reduce((sum, each) => sum + each)
  child.kill('SIGKILL')
  await closed
  return cpu
}

const importing = `
  const before = process.cpuUsage()
  for (let i = 0; i < ${WORKERS}; i++) await import('./node.mjs?' + i)
  const { user, system } = process.cpuUsage(before)
  console.log((user + system) / 1000)`

/** Imports the bundle in Node, as many times as there are workers, and returns how long that took, in milliseconds. */
const importInNode = (directory: string): number =>
  Number(execFileSync(process.execPath, ['--input-type=module', '--eval', importing], { cwd: directory }))

const newTimes = () => new Map([...directories.keys()].map(name => [name, [] as number[]]))
const times = newTimes()
const timesInNode = newTimes()
// In turn, so that a busy moment of the machine does not meet one bundle only. The first round fills the file cache.
for (let round = 0; round <= ROUNDS; round++)
  for (const [name, directory] of directories) {
    const cpu = await start(directory)
    const inNode = importInNode(directory)
    if (round === 0) continue
    times.get(name)?.push(cpu)
    timesInNode.get(name)?.push(inNode)
  }

/** The milliseconds in each round that a bundle takes in addition to an empty one. */
const additional = (name: string, all = times): number[] =>
  (all.get(name) ?? []).map((each, round) => (each - (all.get(EMPTY)?.[round] ?? NaN)) / WORKERS)

/** The milliseconds in each round that one more empty worker takes in a process. */
const empty = additional(ALONE).map(each => (-each * WORKERS) / (WORKERS - 1))

const ratio = (all: readonly number[], reference: readonly number[]): string => {
  const { middle, low, high } = ratioOf(all, reference)
  return `${middle.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`.padEnd(20)
}
const inMs = (all: readonly number[]): string => median(all).toFixed(1).padStart(6)

console.log(
  `an empty worker: ${inMs(empty).trim()} ms of processor time. In addition to it, as medians of ${ROUNDS} rounds:\n`,
)
console.log('    ms  : empty worker      : Node’s import     : the first')
for (const name of bundles.keys()) {
  if (name === EMPTY) continue
  const own = additional(name)
  const columns = [ratio(own, empty), ratio(own, additional(name, timesInNode)), ratio(own, additional(OURS))]
  console.log(`${inMs(own)}  ${columns.join('')}${name}`)
}
