// The program of the watchdog. Its input has one line for each time that zkwire puts the end off: the pid of the guarded
// program, and when to kill it, in milliseconds since 1970. The end of the input means that zkwire has died.
// Its arguments are the session of zkwire, the grace, in milliseconds, and what marks the program in its environment.
import { readClocks, systemClock as clock, type Timestamp } from '../../runtime/clock.ts'
import { leaderWith, ProcessTree, titleOf } from './process-tree.ts'

/** How often the clocks are read, in milliseconds: no timer fires while the machine is suspended. */
const INTERVAL = 250
/** How often the processes are killed until none is left, in milliseconds. A process may start another one meanwhile. */
const PAUSE = 20

const [, , within = '', graceText, mark = ''] = process.argv
const grace = Number(graceText)

let tree: ProcessTree | undefined
let leader: number | undefined
let since: Timestamp = readClocks(clock)
/** The time that is left, counted from `since`. */
let left = Infinity
let isAlone = false
let timer: unknown

// A signal to every process of zkwire, as of `systemctl kill`, must not end the watchdog before the program. Without a
// listener, SIGUSR1 opens Node's debugger.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const)
  process.on(name, () => undefined)

let rest = ''
process.stdin.setEncoding('latin1')
process.stdin.on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() ?? ''
  const [pid, time] = lines.at(-1)?.split(' ').map(Number) ?? []
  if (pid === undefined || time === undefined) return
  if (pid !== leader) watch(pid)
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

/** Begins to watch the program, and tells so to the watchdog of a lock under which this zkwire runs. */
function watch(pid: number): void {
  leader = pid
  tree = new ProcessTree(pid)
  process.title = titleOf(within, pid)
}

/** Finds the program if zkwire has died before it could tell the pid. It may be about to start for a moment more. */
function findProgram(): void {
  const found = leaderWith(mark)
  if (found === undefined) return
  watch(found)
  tree?.kill('SIGTERM')
}

function look(): void {
  clock.clearTimeout(timer)
  if (isAlone && tree === undefined) findProgram()
  const isOver = remaining() <= 0
  if (isOver) tree?.kill('SIGKILL')
  if (isOver || (isAlone && tree !== undefined)) if (tree?.isEmpty !== false) process.exit()
  timer = clock.setTimeout(look, isOver || isAlone ? PAUSE : Math.max(1, Math.min(INTERVAL, remaining())))
}
