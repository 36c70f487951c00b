// Hands a lock over among contenders with separate sessions, each of which acquires it several times.
import type { HandOver, Sample, Task } from '../workloads.ts'

export async function handOver(
  { dist, port, directory }: Task,
  { lock, contenders, acquisitions, rounds }: HandOver,
): Promise<Sample> {
  const { connect } = (await import(`${dist}/index.js`)) as typeof import('../../../src/index.ts')
  const recipes = (await import(`${dist}/recipes/index.js`)) as typeof import('../../../src/recipes/index.ts')
  const clients = await Promise.all(
    Array.from({ length: contenders }, () => connect(`127.0.0.1:${port}`, { sessionTimeout: 60_000 })),
  )
  const mutexes = clients.map(client => new recipes[lock](client, `${directory}/lock`))
  let holders = 0
  const round = () =>
    Promise.all(
      mutexes.map(async mutex => {
        for (let i = 0; i < acquisitions; i++) {
          const held = await mutex.acquire()
          if (++holders !== 1) throw new Error('two hold the lock')
          holders--
          await held.release()
        }
      }),
    )
  const all = async () => {
    for (let i = 0; i < rounds; i++) await round()
  }
  await all()
  const cpu = process.cpuUsage()
  const begun = performance.now()
  await all()
  const { user, system } = process.cpuUsage(cpu)
  const ms = performance.now() - begun
  await Promise.all(clients.map(client => client.close()))
  return { operations: contenders * acquisitions * rounds, cpu: user + system, ms }
}
