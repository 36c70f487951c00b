// A run whose sessions are on several machines. If a machine is lost, what was measured with it is left out, and the run
// begins again with the others.
import { Run, type RunOptions } from '../harness/run.ts'
import type { Server } from '../harness/server.ts'
import type { Progress } from '../output/progress.ts'
import type { Machine, Meeting } from './meeting.ts'
import { MachineLost, Organizer } from './organizer.ts'

/** The machines of a run, as they are in the result. */
export interface FleetFigures {
  /** The machines that measured all figures of the result. */
  machines: Pick<Machine, 'name' | 'processes' | 'cores'>[]
  /** The machines that left or died, with the seconds that they had measured. */
  lost: { name: string; seconds: number }[]
}

export interface SharedRunPlan {
  meeting: Meeting
  /** The number of machines to wait for, with this one. */
  machines: number
  /** The number of processes of this machine. */
  processes: number
  options: RunOptions
  server: Server
}

/** @param onRun called with each run before it measures; the last one has the figures */
export async function measureWithMachines(
  { meeting, machines, processes, options, server }: SharedRunPlan,
  progress: Progress,
  stop: AbortController,
  onRun: (run: Run) => void,
): Promise<FleetFigures> {
  const { signal } = stop
  const waiting = (there: number) => progress.show(`${there} of ${machines} machines have joined`)
  await using organizer = await Organizer.gather(meeting, { machines, processes }, waiting, signal)
  const lost: FleetFigures['lost'] = []
  for (;;) {
    const runStop = new AbortController()
    const forward = () => runStop.abort(signal.reason)
    signal.addEventListener('abort', forward)
    const begun = performance.now()
    const units = { processes: organizer.processes, units: organizer.units, onlyCounted: true }
    const run = new Run({ ...options, ...units }, server, progress, runStop)
    onRun(run)
    try {
      await run.measure()
      return { machines: organizer.machines.map(({ name, processes, cores }) => ({ name, processes, cores })), lost }
    } catch (error) {
      if (!(error instanceof MachineLost) || signal.aborted) throw error
      lost.push({ name: error.machine, seconds: (performance.now() - begun) / 1000 })
    } finally {
      signal.removeEventListener('abort', forward)
    }
  }
}

/** Says what the machines mean for the figures, and which of them were lost. Pure. */
export function fleetCaveats({ machines, lost }: FleetFigures): string[] {
  const several = [
    'Clocks of machines are not compared. So the times are those of the sessions on the machine that released the lock, or changed the node.',
    'The processor time of clients is that of the organizing machine.',
  ]
  return [
    ...(machines.length > 1 ? several : []),
    ...lost.map(
      ({ name, seconds }) =>
        `The machine ${name} left or died after ${Math.round(seconds)} s. What was measured until then is left out, and the run began again without it.`,
    ),
  ]
}
