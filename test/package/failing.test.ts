// What a user of the packed package sees when servers fail, and when a process stops.
import { expect } from 'chai'
import { run, userWithPackage, write } from './user.ts'

/** Programs of users. Each prints JSON. */
const programs = {
  'wrong-port.mjs': `
    import { connect } from 'zkwire'
    const begun = performance.now()
    const error = await connect('127.0.0.1:1,127.0.0.1:2').catch(error => error)
    console.log(JSON.stringify({ code: error.code, message: error.message, ms: performance.now() - begun }))`,
  'dead-server.mjs': `
    import { connect } from 'zkwire'
    import { Server } from 'zkwire/server'
    const server = await Server.start()
    const zk = await connect(server.connectString)
    await server.close()
    const begun = performance.now()
    await zk.close({ timeout: 100 })
    console.log(JSON.stringify({ ms: performance.now() - begun }))`,
  'lost.mjs': `
    import { connect } from 'zkwire'
    import { RecipeError, Mutex } from 'zkwire/recipes'
    import { Server } from 'zkwire/server'
    const server = await Server.start()
    const zk = await connect(server.connectString)
    const error = await new Mutex(zk, '/lock').use(held => new Promise(resolve => {
      held.signal.addEventListener('abort', () => resolve('result'))
      server.expireSession(zk.sessionId)
    })).catch(error => error)
    console.log(JSON.stringify({ isRecipeError: error instanceof RecipeError, code: error.code, value: error.value }))
    await zk.close()
    await server.close()`,
  'stopped.mjs': `
    import { connect } from 'zkwire'
    import { LeaderElection } from 'zkwire/recipes'
    import { Server } from 'zkwire/server'
    const server = await Server.start()
    const zk = await connect(server.connectString)
    const stop = new AbortController()
    let reason
    const leading = new LeaderElection(zk, '/election').lead(({ signal }) => new Promise(resolve => {
      signal.addEventListener('abort', () => { reason = signal.reason.message; resolve() })
      stop.abort(new Error('SIGTERM'))
    }), { signal: stop.signal })
    await leading.catch(() => undefined)
    const { children } = await zk.getChildren('/election')
    console.log(JSON.stringify({ reason, left: children.length }))
    await zk.close()
    await server.close()`,
}

describe('a user of the packed package', function () {
  this.timeout(300_000)
  let directory: string
  before(async () => {
    ;({ directory } = await userWithPackage())
    await write(directory, programs)
  })

  const resultOf = async (program: keyof typeof programs): Promise<Record<string, unknown>> => {
    const { code, output } = await run(directory, '.', 'node-22', `node ${program}`)
    expect(code, output).to.equal(0)
    return JSON.parse(output) as Record<string, unknown>
  }

  it('is told at once which addresses refused the connection', async () => {
    const { code, message, ms } = await resultOf('wrong-port.mjs')
    expect(code).to.equal('NOSERVER')
    for (const words of ['127.0.0.1:1', '127.0.0.1:2', 'ECONNREFUSED']) expect(message).to.contain(words)
    expect(ms).to.be.below(15_000)
  })

  it('can close a client whose server is dead, with a time limit', async () => {
    expect((await resultOf('dead-server.mjs'))['ms']).to.be.below(5000)
  })

  it('gets LOST with the result of the function from use() if the session ended meanwhile', async () => {
    expect(await resultOf('lost.mjs')).to.deep.equal({ isRecipeError: true, code: 'LOST', value: 'result' })
  })

  it('can stop a leader by the signal of lead(), whose reason the function sees; no node is left', async () => {
    expect(await resultOf('stopped.mjs')).to.deep.equal({ reason: 'SIGTERM', left: 0 })
  })
})
