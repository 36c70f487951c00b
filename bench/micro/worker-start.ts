// `npm run bench -- worker`: the processor time in which workerd, the runtime of Cloudflare Workers, starts a worker with
// the client. `-- old=bundle.js` also starts another bundle, such as one of an older commit.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installTools } from '../../environment/installed-tools.ts'
import { root, workerd } from '../../environment/needs.ts'
import { median } from '../measure/statistics.ts'
import { ratioOf } from '../throughput/verdict.ts'
import { bundleOf } from './size.ts'

/** One start lasts a few milliseconds and is disturbed by as many, so each process starts many workers. */
const WORKERS = 20
const ROUNDS = 24

const EMPTY = 'an empty worker'
const OURS = 'connect of zkwire/cloudflare, Mutex'

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
for (const [name, code] of bundles) {
  const directory = join(folder, String(directories.size))
  const services = Array.from({ length: WORKERS }, (_, i) => `(name = "${i}", worker = .client)`).join(', ')
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [${services}],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "0")]);
const client :Workerd.Worker = (modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-04-01", compatibilityFlags = ["nodejs_compat"]);`
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'worker.js'), code)
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

const times = new Map([...bundles.keys()].map(name => [name, [] as number[]]))
// In turn, so that a busy moment of the machine does not meet one bundle only. The first round fills the file cache.
for (let round = 0; round <= ROUNDS; round++)
  for (const [name, directory] of directories) {
    const cpu = await start(directory)
    if (round > 0) times.get(name)?.push(cpu)
  }

/** The milliseconds in each round that a worker takes in addition to an empty one. */
const additional = (name: string): number[] =>
  (times.get(name) ?? []).map((cpu, round) => (cpu - (times.get(EMPTY)?.[round] ?? NaN)) / WORKERS)

console.log('processor time in addition to an empty worker, median, and its ratio to the first in each round')
for (const name of bundles.keys()) {
  if (name === EMPTY) continue
  const { middle, low, high } = ratioOf(additional(name), additional(OURS))
  const ratio = `${middle.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`
  console.log(`${median(additional(name)).toFixed(1).padStart(6)} ms  ${ratio}  ${name}`)
}
