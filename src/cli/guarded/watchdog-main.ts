// The program of the watchdog. Its input has one line for each time that zkwire puts the end off: the pid of the guarded
// program, and when to kill it, in milliseconds since 1970. The end of the input means that zkwire has died.
// Its arguments are the grace, in milliseconds, and what marks the program in its environment.
import { readClocks, systemClock as clock, type Timestamp } from '../../runtime/clock.ts'
import { leaderWith, ProcessTree } from './process-tree.ts'

/** How often the clocks are read, in milliseconds: no timer fires while the machine is suspended. */
const INTERVAL = 250
/** How often the processes are killed until none is left, in milliseconds. A process may start another one meanwhile. */
const PAUSE = 20

const grace = Number(process.argv[2])
const mark = process.argv[3] ?? ''

let tree: ProcessTree | undefined
let leader: number | undefined
let since: Timestamp = readClocks(clock)
/** The time that is left, counted from `since`. */
let left = Infinity
let isAlone = false
let timer: unknown

// A signal to every process of the name zkwire must not end the watchdog before the program.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined)

let rest = ''
process.stdin.setEncoding('latin1')
process.stdin.on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() ?? ''
  const [pid, time] = lines.at(-1)?.split(' ').map(Number) ?? []
  if (pid === undefined || time === undefined) return
  if (pid !== leader) tree = new ProcessTree((leader = pid))
  since = readClocks(clock)
  left = time - since.wall
  look()
})
process.stdin.on('close', () => {
  isAlone = true
  tree?.kill('SIGTERM')
  left = Math.min(remaining(), grace)
  since = readClocks(clock)
  look()
})

/** The clock that has advanced more decides, because the monotonic one stops while the machine is suspended. */
function remaining(): number {
  const { now, wall } = readClocks(clock)
  return left - Math.max(now - since.now, wall - since.wall)
}

/** Finds the program if zkwire has died before it could tell the pid. It may be about to start for a moment more. */
function findTree(): ProcessTree | undefined {
  leader = leaderWith(mark)
  if (leader === undefined) return undefined
  const found = new ProcessTree(leader)
  found.kill('SIGTERM')
  return found
}

function look(): void {
  clock.clearTimeout(timer)
  if (isAlone) tree ??= findTree()
  const isOver = remaining() <= 0
  if (isOver) tree?.kill('SIGKILL')
  if (isOver || (isAlone && tree !== undefined)) if (tree?.isEmpty !== false) process.exit()
  timer = clock.setTimeout(look, isOver || isAlone ? PAUSE : Math.max(1, Math.min(INTERVAL, remaining())))
}
