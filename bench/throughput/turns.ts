// Measurements in turns: the processes of all subjects are open at the same time, and each is measured for a moment.
import { rotated } from '../processes/measuring-process.ts'
import type { Bench } from './bench.ts'
import { figureOf } from './verdict.ts'
import type { Sample, SubjectName, Workload } from './workloads.ts'

/**
 * Measures each subject once. They take turns, in another order each time. Returns the least figures of their turns,
 * because other programs of the machine can only add to them.
 *
 * All subjects are warmed up before the first turn. Otherwise the processor time in which the server's Java machine
 * compiles its code would be counted for the first one.
 */
export async function measureInTurns(
  bench: Bench,
  workload: Workload,
  subjects: readonly SubjectName[],
  turns: number,
): Promise<Map<SubjectName, Sample>> {
  const all = []
  for (const name of subjects) all.push({ name, process: await bench.open(workload, name), samples: [] as Sample[] })
  for (let turn = 0; turn < turns; turn++)
    for (const { samples, process } of rotated(all, turn)) samples.push(await process.measure())
  await Promise.all(all.map(({ process }) => process.end()))
  return new Map(all.map(({ name, samples }) => [name, leastOf(samples)]))
}

const leastOf = (samples: readonly Sample[]): Sample => ({
  operations: 1,
  cpu: Math.min(...samples.map(figureOf.cpu)),
  ms: Math.min(...samples.map(({ ms, operations }) => ms / operations)),
  server: Math.min(...samples.map(({ server = NaN, operations }) => server / operations)),
})
