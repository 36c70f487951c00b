// Curator's lock: the Debian package, and a small Java program that is compiled when needed.
import { JavaProgram } from '../../environment/java-program.ts'
import { CURATOR_JARS, provideCurator } from '../../environment/other-libraries.ts'
import type { Sample, Turns } from '../processes/turns.ts'
import { WARM_UP_ACQUISITIONS, type HandOver } from './workloads.ts'

/** Starts a process whose contenders have the lock in turns with other processes, and warms it up. */
export async function openCurator(port: number, lock: string, { contenders, acquisitions }: HandOver): Promise<Turns> {
  await provideCurator()
  const args = [port, lock, contenders, WARM_UP_ACQUISITIONS, acquisitions].map(String)
  const program = await JavaProgram.start(new URL('HandOver.java', import.meta.url), {
    ...{ jars: CURATOR_JARS, args, jvm: [] },
  })
  await program.request('warm up')
  return {
    measure: async () => JSON.parse(await program.request('turn')) as Sample,
    end: () => program.close(),
  }
}
