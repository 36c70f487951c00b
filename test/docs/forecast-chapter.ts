// Generates the chapter of docs/herd.md that forecasts other sizes. Pure.
import type { Result } from '../../bench/output/result.ts'
import { JAVA_MAX_REPLY, OWN_MAX_REPLY } from '../../bench/model/advice.ts'
import { CONDITIONS, firstSize, lockForecast } from '../../bench/model/forecast.ts'
import { errorOf, heldOutOf, isClose, TOLERANCE, type HeldOut } from '../../bench/model/held-out.ts'
import { modelOf } from '../../bench/model/model.ts'
import { bitRate, bytes, duration, figure, whole } from '../../bench/output/figures.ts'

const LOCKS = {
  ephemeral: 'EphemeralMutex',
  herd: 'HerdMutex',
  mutex: 'Mutex, lookAhead: false',
  'look-ahead': 'Mutex',
  ticket: 'TicketMutex',
}
const SIZES = [1000, 10_000, 100_000, 1_000_000]

/** @param large a run whose largest size is ten times that of the page */
export function forecastChapter(result: Result, large: Result): string {
  const model = modelOf(result)
  const forecast = (lock: string, size: number) => {
    const found = lockForecast(model, lock, size, CONDITIONS)
    if (found === undefined) throw new Error(`the model has no ${lock}`)
    return found
  }
  const listOf = (lock: string, size: number) => forecast(lock, size).listBytes ?? 0
  const mostOf = (limit: number) => whole((firstSize(size => listOf('mutex', size) > limit) ?? NaN) - 1)
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const locks = Object.entries(LOCKS).map(([lock, name]) => {
    const limit = firstSize(size => !forecast(lock, size).keepsUp || listOf(lock, size) > OWN_MAX_REPLY)
    const costs = SIZES.map(size => {
      const { ms, release } = forecast(lock, size)
      if (listOf(lock, size) > OWN_MAX_REPLY) return `impossible: a list of ${bytes(listOf(lock, size))} bytes`
      return `${duration(ms)}, ${bytes(release.counts.bytesReceived)} bytes`
    })
    return row([name, ...costs, limit === undefined ? 'any number' : `fewer than ${whole(limit)}`])
  })
  const { lineRate, cores, roundTrip, hold } = CONDITIONS
  const head = ['lock', ...SIZES.map(size => `${whole(size)} contenders`), `takes less than ${duration(hold)}`]
  return `## What it costs you

From the same run, the first section of the report forecasts what a release costs with another number of contenders, another line and another server. With clients that hold the lock for ${duration(hold)}, a line of ${bitRate(lineRate)}, ${cores} cores of the server and a round trip of ${duration(roundTrip)}:

${[row(head), row(head.map(() => '---')), ...locks].join('\n')}

A reply must not exceed \`maxReplyBytes\`, by default 16 MiB here and \`jute.maxbuffer\`, 1 MiB, in Java. So a lock whose waiters list all
names ends at ${mostOf(OWN_MAX_REPLY)} contenders, and at ${mostOf(JAVA_MAX_REPLY)} if one of them is a Java client. A million contenders are ${whole(1_000_000 / largestOf(result))} times the largest number of this run, so take these times as magnitudes. The notifications and bytes are
exact, because they are polynomials of N. How good the processor times are, another run shows. It measured up to ${whole(largestOf(large))} sessions, and its
largest figures are put beside what those with ${whole(largestOf(large) / 10)} and fewer sessions forecast:

${heldOutTable(heldOutOf(large))}

Figures in bold are more than ${Math.round(100 * TOLERANCE)} % off (\`docs/forecast.json\` in the repository,
\`${large.commandLine.replace(/ --(json|report) \S+/g, '')}\`). A release of a \`TicketMutex\` takes some two
milliseconds with any number of contenders, and only a few releases were measured at each size. The other locks list the queue when they join.
Until 10,000 contenders have joined, their lists are three gigabytes, and a run with them ended because a session lost its connection.
`
}

const largestOf = ({ cells }: Result): number => Math.max(...cells.map(({ size }) => size))

function heldOutTable(figures: readonly HeldOut[]): string {
  const rows = figures.map(each => {
    const show = (value: number) => (each.what.endsWith('ms') ? figure(value) : String(value))
    const error = Math.round(100 * errorOf(each))
    const off = `${error > 0 ? '+' : ''}${error} %`
    return [
      `${each.scenario}, ${each.phase}`,
      each.what,
      show(each.forecast.value),
      show(each.measured),
      isClose(each) ? off : `**${off}**`,
    ]
  })
  const table = [
    ['scenario', 'figure', 'forecast', 'measured', 'off by'],
    Array.from({ length: 5 }, () => '---'),
    ...rows,
  ]
  return table.map(cells => `| ${cells.join(' | ')} |`).join('\n')
}
