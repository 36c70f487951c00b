// `npm run bench -- playground`: how often Chromium draws the playground with 60 clients, on one core.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { buildPlayground } from './build.ts'
import { cpuSecondsOf, descendantsOf } from '../../environment/procfs.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    clients: { type: 'string', default: '60' },
    core: { type: 'string', default: '0' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
})
const [seconds, clients] = [Number(values.seconds), Number(values.clients)]

const directory = await mkdtemp(join(tmpdir(), 'zkwire-bench-'))
const page = join(directory, 'playground.html')
await writeFile(page, (await buildPlayground()).html)
// All processes of Chromium inherit the core.
const program = join(directory, 'chromium')
await writeFile(program, `#!/bin/sh\nexec taskset -c ${Number(values.core)} ${values.chromium} "$@"\n`)
await chmod(program, 0o755)

const server = await chromium.launchServer({
  executablePath: program,
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
})
const browser = await chromium.connect(server.wsEndpoint())
/** The CPU time of all processes of Chromium so far, in seconds. */
const cpuSeconds = (): number => {
  const { pid } = server.process()
  return pid === undefined
    ? NaN
    : [pid, ...descendantsOf(pid)].reduce((sum, each) => sum + (cpuSecondsOf(each) ?? 0), 0)
}
try {
  const open = await browser.newPage({ viewport: { width: 1280, height: 960 } })
  await open.goto(pathToFileURL(page).href)
  await open.locator('.stage .flights').waitFor()
  for (const speed of [1, 8]) {
    await open.evaluate(preparation(speed))
    const before = cpuSeconds()
    const found = await open.evaluate<Found>(measurement())
    console.log(sentenceOf(speed, found, cpuSeconds() - before))
  }
} finally {
  await browser.close()
  await server.close()
  await rm(directory, { recursive: true })
}

interface Found {
  /** Milliseconds between two drawings, sorted. */
  spans: number[]
  /** The most frames that were in flight in a drawing. */
  most: number
  /** How many frames were sent meanwhile. */
  sent: number
}

/** Returns the expression that starts the scenario, and lets all clients queue. */
function preparation(speed: number): string {
  return `(async () => {
  await playground.start({ recipe: 'herd-mutex', clients: ${clients}, servers: 1, seed: 1 })
  await playground.settle()
  while (playground.speed < ${speed}) playground.changeSpeed(1)
})()`
}

/** Returns the expression that releases the lock again and again, plays, and measures the time between two drawings. */
function measurement(): string {
  return `(async () => {
  const release = () => {
    const holder = playground.picture.clients.find(({ role }) => role === 'holding')
    return holder && playground.act({ kind: 'release', client: holder.id })
  }
  await release()
  const sentBefore = playground.frames.length
  const times = []
  let most = 0
  document.querySelector('.stage .flights').addEventListener('painted', ({ detail }) => {
    times.push(performance.now())
    most = Math.max(most, detail.length)
    if (detail.length === 0 && !playground.isBusy) void release()
  })
  playground.play()
  await new Promise(passed => setTimeout(passed, ${seconds * 1000}))
  playground.pause()
  const spans = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b)
  return { spans, most, sent: playground.frames.length - sentBefore }
})()`
}

function sentenceOf(speed: number, { spans, most, sent }: Found, cpu: number): string {
  const at = (part: number) => `${(spans[Math.floor(part * (spans.length - 1))] ?? 0).toFixed(0)} ms`
  const rate = (1000 * spans.length) / spans.reduce((sum, span) => sum + span, 0)
  return `${clients} clients on one core at speed ${speed}: ${rate.toFixed(1)} drawings a second
  between two drawings: ${at(0.5)} (median), ${at(0.95)} (95 %), ${at(1)} (longest)
  CPU time of all processes of Chromium: ${((1000 * cpu) / spans.length).toFixed(1)} ms a drawing
  up to ${most} frames in flight; ${sent} sent`
}
