// The program of a measuring process: it opens what its task names, and then measures at each request of its parent.
import type { Request, Sample, Turns } from './turns.ts'

export function answerTurns(open: (task: never) => Promise<Turns>): void {
  process.once('disconnect', () => process.exit())
  process.once('message', task => {
    void open(task as never).then(turns => {
      process.on('message', (request: Request) => {
        if (request === 'turn') void turns.measure().then(sample => process.send?.(sample))
        if (request === 'end') void turns.end().then(() => process.exit())
      })
      process.send?.('ready')
    })
  })
}

/** A measurement ends at the latest when its wall-clock time is this many times its span. */
const PATIENCE = 8

/** Measures the process's processor time since the meter was constructed. */
export class Meter {
  readonly #cpu = process.cpuUsage()
  readonly #begun = performance.now()

  sample(operations: number): Sample {
    const { user, system } = process.cpuUsage(this.#cpu)
    return { operations, cpu: user + system, ms: performance.now() - this.#begun }
  }

  /**
   * True after `span` ms of processor time, so that a busy machine makes a measurement longer but does not reduce its
   * operations. Also true after {@link PATIENCE} * `span` ms of wall-clock time, because some work mostly waits, for
   * example for a reconnect.
   */
  isOver(span: number): boolean {
    const { cpu, ms } = this.sample(0)
    // The system counts in ticks. Before the first tick the cost would be zero.
    return cpu > 0 && (cpu >= span * 1000 || ms >= span * PATIENCE)
  }
}

/** Measures work, which resolves with the number of its operations. */
export async function measured(work: () => Promise<number>): Promise<Sample> {
  const meter = new Meter()
  return meter.sample(await work())
}
