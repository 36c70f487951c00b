// A process that executes the steps of steps.ts: one request a line, [name of the step, path, number of the process].
import { createInterface } from 'node:readline'
import { connect } from '../../src/index.ts'
import { steps } from './steps.ts'

const [connectString = ''] = process.argv.slice(2)
const client = await connect(connectString)
for await (const line of createInterface({ input: process.stdin })) {
  const [name, path, number] = JSON.parse(line) as [string, string, number]
  const reply = await (steps[name] as NonNullable<(typeof steps)[string]>)
    .run(client, path, number, connectString)
    .then(
      () => 'done',
      (error: unknown) => `!${String(error)}`,
    )
  await client.settled()
  console.log(reply)
}
await client.close()
