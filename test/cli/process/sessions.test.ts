// `zkwire sessions` as a process, on both servers, and on servers that do not say everything.
import { expect } from 'chai'
import { connect } from '../../../src/index.ts'
import { hex64 } from '../../../src/protocol/index.ts'
import { startApacheZooKeeper } from '../../../environment/apache-zookeeper.ts'
import { freePort } from '../../../environment/free-port.ts'
import { jsonOf, onBothServers, zkwire } from './program.ts'

onBothServers('zkwire sessions', server => {
  it('prints the client, server, timeout, ephemeral nodes and watches of each session', async () => {
    const zk = await connect(server.connectString, { sessionTimeout: 5000 })
    const { path } = await zk.create('/sessions-', '', { mode: 'ephemeralSequential' })
    await zk.getData(path, { watch: () => undefined })
    const session = hex64(zk.sessionId)
    const { sessions, problems } = (await jsonOf(['sessions', '-s', server.connectString])) as {
      sessions: { session: string; address: string }[]
      problems: unknown[]
    }
    expect(problems).to.deep.equal([])
    const own = sessions.find(each => each.session === session)
    expect(own).to.include({ server: server.connectString, timeout: 5000, nodes: 1, watches: 1 })
    expect(own?.address).to.match(/^127\.0\.0\.1:\d+$/)
    const { status, out } = await zkwire(['sessions', '-s', server.connectString])
    expect(status).to.equal(0)
    expect(out).to.match(new RegExp(`^${session} .* ${server.connectString} +5000 +\\d+ +1 +1$`, 'm'))
    await zk.close()
  })

  it('prints what it knows, and ends with 1, if one of the servers is dead', async () => {
    const dead = `127.0.0.1:${await freePort()}`
    const { status, out, err } = await zkwire(['sessions', '-s', `${server.connectString},${dead}`])
    expect(out).to.match(/^session +client +server /)
    expect(
      err.match(new RegExp(`^zkwire sessions: ${dead} does not answer (cons|dump|wchc): .*$`, 'gm')),
    ).to.have.length(3)
    expect(status).to.equal(1)
  })
})

describe('zkwire sessions', () => {
  it('names the words that a server does not allow, and prints the rest', async () => {
    const server = await startApacheZooKeeper({ config: { '4lw.commands.whitelist': 'srvr,dump' } })
    const zk = await connect(server.connectString)
    const { status, out, err } = await zkwire(['sessions', '-s', server.connectString])
    expect(out).to.match(new RegExp(`^${hex64(zk.sessionId)} +\\? +\\? +\\? +\\? +0 +\\?$`, 'm'))
    expect(err).to.contain(`${server.connectString} does not allow the word cons: add it to 4lw.commands.whitelist`)
    expect(status).to.equal(1)
    await zk.close()
    await server.close()
  })

  it('ends with 69 if no server answers', async () => {
    const { status, out, err } = await zkwire(['sessions', '-s', `127.0.0.1:${await freePort()}`])
    expect(err).to.match(/^zkwire sessions: \S+ does not answer cons: .*ECONNREFUSED/)
    expect([status, out]).to.deep.equal([69, ''])
  })
})
