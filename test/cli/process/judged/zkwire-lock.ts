// A lock of zkwire, as `zkwire judge` runs it. With the argument `foreign`, a wrong lock of one node.
import { createInterface } from 'node:readline'
import { connect, isCode, type Client } from '../../../../src/index.ts'
import { Mutex } from '../../../../src/recipes/index.ts'

const { ZK_HOSTS = '', ZK_LOCK = '' } = process.env
const isForeign = process.argv[2] === 'foreign'
let current: Client | undefined

async function client(): Promise<Client> {
  if (current !== undefined) return current
  // An attempt that is given up may leave a session, and the judge then misses its close: a busy server answers late.
  const zk = await connect(ZK_HOSTS, { sessionTimeout: 10_000, attemptTimeout: 30_000 })
  zk.on('state', state => {
    if (state !== 'expired') return
    console.log('lost')
    current = undefined
  })
  return (current = zk)
}

async function acquireNode(path: string): Promise<{ release(): Promise<void>; token?: bigint }> {
  const zk = await client()
  await zk.ensurePath('/judge')
  for (;;) {
    try {
      await zk.create(path, '', { mode: 'ephemeral' })
      break
    } catch (error) {
      if (!isCode(error, 'NODEEXISTS')) throw error
    }
    await new Promise<unknown>((resolve, reject) => {
      zk.exists(path, { watch: resolve }).then(stat => {
        if (stat === null) resolve(stat)
      }, reject)
    })
  }
  // The mistake: after the end of the session that made it, the node is that of another client.
  return { release: async () => (await client()).delete(path) }
}

let held: { release(): Promise<void>; token?: bigint } | undefined
console.log('ready')
for await (const line of createInterface({ input: process.stdin }))
  try {
    if (line === 'lock') {
      held = await (isForeign ? acquireNode(`${ZK_LOCK}-node`) : new Mutex(await client(), ZK_LOCK).acquire())
      console.log(`in ${held.token ?? ''}`.trim())
    } else {
      await held?.release()
      console.log('out')
    }
  } catch (error) {
    console.log(`failed ${String(error)}`)
  }
await current?.close()
