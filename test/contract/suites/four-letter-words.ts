// The answers to the four-letter words.
import { expect } from 'chai'
import { opcodes, operations } from '../../../src/protocol/index.ts'
import { fourLetterWord } from '../../../environment/four-letter-word.ts'
import type { WireSession } from '../../support/wire-session.ts'
import { until } from '../../../environment/until.ts'
import { suite, type World } from '../suite.ts'

const answerTo = ({ server }: World, word: string) => fourLetterWord(server.host, server.port, word)
const hex = ({ sessionId }: WireSession) => `0x${sessionId.toString(16)}`

/** Opens a session with an ephemeral node, and a watch on it. */
async function sessionWithNode(world: World): Promise<WireSession> {
  const session = await world.session({ timeout: 7654 })
  const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
  await session.request(operations.create, { path: world.at('/e'), data: 'x', acl, flags: 1 })
  await session.request(operations.exists, { path: world.at('/e'), watch: true })
  return session
}

export const fourLetterWords = suite('four-letter words:', it => {
  it('ruok: imok', async world => {
    expect(await answerTo(world, 'ruok')).to.equal('imok')
  })

  it('isro: rw', async world => {
    expect(await answerTo(world, 'isro')).to.equal('rw')
  })

  it('envi: the version', async world => {
    expect(await answerTo(world, 'envi')).to.match(
      /^Environment:\nzookeeper\.version=3\.\d+\.\d\S*, built on \d{4}-\d\d-\d\d \d\d:\d\d \w+\n/,
    )
  })

  it('srvr: the version, counts and mode', async world => {
    const { zxid } = await (await sessionWithNode(world)).requestReply(operations.ping, {})
    const answer = await answerTo(world, 'srvr')
    const shapes = [
      ...[/^Zookeeper version: 3\.\d+\.\d\S*, built on \d{4}-\d\d-\d\d \d\d:\d\d \w+$/],
      ...[/^Latency min\/avg\/max: \d+\/[\d.]+\/\d+$/, /^Received: [1-9]\d*$/],
      // ZooKeeperServer.submitRequestNow counts a request after passing it on, so the reply may be subtracted first.
      ...[/^Sent: [1-9]\d*$/, /^Connections: [1-9]\d*$/, /^Outstanding: -?\d+$/, /^Zxid: 0x[0-9a-f]+$/],
      ...[/^Mode: standalone$/, /^Node count: [1-9]\d*$/, /^$/],
    ]
    const lines = answer.split('\n')
    expect(lines).to.have.length(shapes.length)
    for (const [i, shape] of shapes.entries()) expect(lines[i]).to.match(shape)
    expect(BigInt(/Zxid: (.*)/.exec(answer)?.[1] ?? 0) >= zxid).to.equal(true)
  })

  it('srvr and mntr: the number of nodes, with the root counted twice', async world => {
    const session = await world.session()
    const { totalNumber } = await session.request(operations.getAllChildrenNumber, { path: '/' })
    expect(await answerTo(world, 'srvr')).to.include(`\nNode count: ${totalNumber + 2}\n`)
    expect(await answerTo(world, 'mntr')).to.include(`\nzk_znode_count\t${totalNumber + 2}\n`)
  })

  it('conf: the ports, limits and directories, one to a line', async world => {
    const lines = (await answerTo(world, 'conf')).split('\n')
    expect(lines.map(line => line.replace(/=.*/, ''))).to.deep.equal([
      ...['clientPort', 'secureClientPort', 'dataDir', 'dataDirSize', 'dataLogDir', 'dataLogSize', 'tickTime'],
      ...['maxClientCnxns', 'minSessionTimeout', 'maxSessionTimeout', 'clientPortListenBacklog', 'serverId', ''],
    ])
    expect(lines).to.include.members([`clientPort=${world.server.port}`, 'tickTime=500', 'minSessionTimeout=1000'])
    expect(lines).to.include.members([
      'secureClientPort=-1',
      'maxSessionTimeout=10000',
      'maxClientCnxns=0',
      'serverId=0',
    ])
  })

  it('dirs: the sizes of the directories', async world => {
    expect(await answerTo(world, 'dirs')).to.match(/^datadir_size: \d+\nlogdir_size: \d+\n$/)
  })

  it('gtmk: the trace mask', async world => {
    expect(await answerTo(world, 'gtmk')).to.equal('306')
  })

  it('hash: no line, or lines with a zxid and a digest', async world => {
    expect(await answerTo(world, 'hash')).to.match(/^([0-9a-f]+: -?\d+\n)*$/)
  })

  it('srst: counts the frames of the server from now on', async world => {
    const session = await sessionWithNode(world)
    for (let i = 0; i < 20; i++) await session.request(operations.ping, {})
    const received = async () => Number(/^Received: (\d+)$/m.exec(await answerTo(world, 'srvr'))?.[1])
    const before = await received()
    expect(await answerTo(world, 'srst')).to.equal('Server stats reset.\n')
    expect(await received()).to.be.below(before - 15)
  })

  it('mntr: what a server without local sessions and without an ensemble reports of both', async world => {
    const mntr = await answerTo(world, 'mntr')
    for (const name of ['local_sessions', 'looking_count', 'proposal_count', 'commit_count'])
      expect(mntr).to.include(`\nzk_${name}\t0\n`)
  })

  it('each word: counts as received before its answer, and as sent after it, in packets of 8192 characters', async world => {
    const session = await world.session()
    const figure = (name: string, text: string) => Number(new RegExp(`^${name}(?:: |\\t)(\\d+)$`, 'm').exec(text)?.[1])
    await until(async () => {
      const mntr = await answerTo(world, 'mntr')
      await answerTo(world, 'ruok')
      const srvr = await answerTo(world, 'srvr')
      const received = figure('Received', srvr) - figure('zk_packets_received', mntr)
      const sent = figure('Sent', srvr) - figure('zk_packets_sent', mntr)
      return received === 2 && sent === Math.ceil(mntr.length / 8192) + 1
    })
    const before = figure('zk_bytes_received_count', await answerTo(world, 'mntr'))
    await session.request(operations.ping, {})
    await until(async () => {
      const words = figure('zk_bytes_received_count', await answerTo(world, 'mntr')) - before - 12
      return words % 4 === 0
    })
    const own = /^ .*\(queued=0,recved=1,sent=0\)$/m
    expect(await answerTo(world, 'stat')).to.match(own)
  })

  it('crst: counts the frames of each connection from now on', async world => {
    const session = await sessionWithNode(world)
    const counts = async () => {
      const [, received, sent] =
        new RegExp(`recved=(\\d+),sent=(\\d+),sid=${hex(session)}`).exec(await answerTo(world, 'cons')) ?? []
      return { received: Number(received), sent: Number(sent) }
    }
    // The server counts a frame after it has written it (NIOServerCnxn), so its client may have it before.
    const becomes = (frames: number) =>
      until(async () => {
        const { received, sent } = await counts()
        return received === frames && sent === frames
      })
    await becomes(3)
    expect(await answerTo(world, 'crst')).to.equal('Connection stats reset.\n')
    expect(await counts()).to.deep.equal({ received: 0, sent: 0 })
    await session.request(operations.ping, {})
    await becomes(1)
  })

  it('stat: srvr, and the connections', async world => {
    await sessionWithNode(world)
    expect(await answerTo(world, 'stat')).to.match(
      /^Zookeeper version: .*\nClients:\n( \/127\.0\.0\.1:\d+\[\d\]\(queued=\d+,recved=\d+,sent=\d+\)\n)+\nLatency .*\nReceived: [^]*\nNode count: \d+\n$/,
    )
  })

  it('mntr: metrics by name', async world => {
    const figures = async () => {
      const lines = (await answerTo(world, 'mntr')).trimEnd().split('\n')
      return new Map(lines.map(line => [line.split('\t')[0] ?? '', line.split('\t')[1] ?? '']))
    }
    const before = await figures()
    const session = await sessionWithNode(world)
    const after = await figures()
    const grown = (name: string) => Number(after.get(name)) - Number(before.get(name))
    expect(['zk_znode_count', 'zk_watch_count', 'zk_ephemerals_count'].map(grown)).to.deep.equal([1, 1, 1])
    expect(grown('zk_num_alive_connections')).to.be.at.least(1)
    expect(grown('zk_packets_received')).to.be.at.least(3)
    expect(after.get('zk_server_state')).to.equal('standalone')
    expect(after.get('zk_version')).to.contain(world.version)
    const names = [
      'avg_latency',
      'min_latency',
      'max_latency',
      'packets_sent',
      'approximate_data_size',
      'uptime',
      'global_sessions',
    ]
    for (const name of names) expect(Number(after.get(`zk_${name}`)), name).to.be.at.least(0)
    expect(after.get('zk_outstanding_requests')).to.match(/^-?\d+$/)
    session.drop()
  })

  it('wchs: the number of watching connections, paths and watches', async world => {
    await sessionWithNode(world)
    expect(await answerTo(world, 'wchs')).to.match(
      /^[1-9]\d* connections watching [1-9]\d* paths\nTotal watches:[1-9]\d*\n?$/,
    )
  })

  it('wchc and wchp: watches by connection and by path', async world => {
    const session = await sessionWithNode(world)
    expect(await answerTo(world, 'wchc')).to.match(new RegExp(`(^|\n)${hex(session)}\n\t${world.at('/e')}\n`))
    expect(await answerTo(world, 'wchp')).to.match(new RegExp(`(^|\n)${world.at('/e')}\n\t${hex(session)}\n`))
  })

  it('wchc: connections that have watched, even if no watch is left', async world => {
    const session = await sessionWithNode(world)
    const isListedWithoutWatch = async () =>
      new RegExp(`(^|\n)${hex(session)}\n(?!\t)`).test(await answerTo(world, 'wchc'))
    await session.request(operations.setData, { path: world.at('/e'), data: '', version: -1 })
    expect(await isListedWithoutWatch()).to.equal(true)
    await session.request(operations.addWatch, { path: world.at('/e'), mode: 0 })
    expect(await answerTo(world, 'wchc')).to.match(new RegExp(`(^|\n)${hex(session)}\n\t${world.at('/e')}\n`))
    await session.request(operations.removeWatches, { path: world.at('/e'), type: 3 })
    // Since ZOOKEEPER-4471, a removal ends the entry with its last watch.
    expect(await isListedWithoutWatch()).to.equal(!world.has('ZOOKEEPER-4471'))
    expect(await answerTo(world, 'wchp')).not.to.include(world.at('/e'))
  })

  it('dump: the expiry dates of the sessions, grouped by date', async world => {
    const session = await sessionWithNode(world)
    const ids = `(?:\\t0x\\w+\n)*`
    const end = '(\\d+) expire at \\w{3} \\w{3} \\d\\d \\d\\d:\\d\\d:\\d\\d \\w+ \\d{4}:'
    const set = new RegExp(`\n${end}\n(${ids}\t${hex(session)}\n${ids})`).exec(await answerTo(world, 'dump'))
    expect(set?.[2]?.match(/\n/g)).to.have.length(Number(set?.[1]))
  })

  it('dump: the sessions and their ephemeral nodes', async world => {
    const session = await sessionWithNode(world)
    const answer = await answerTo(world, 'dump')
    expect(answer).to.match(
      /^SessionTracker dump:\n[^]*ephemeral nodes dump:\nSessions with Ephemerals \(\d+\):\n[^]*Connections dump:\n/,
    )
    expect(answer).to.match(/Session Sets \(\d+\)\/\(\d+\):\n/)
    expect(answer).to.match(new RegExp(`\n\t${hex(session)}\n`))
    expect(answer).to.match(new RegExp(`\n${hex(session)}:\n\t${world.at('/e')}\n`))
  })

  it('dump: a session that has had ephemeral nodes, even if none is left', async world => {
    const session = await sessionWithNode(world)
    const list = async () => new RegExp(`\n${hex(session)}:\n(\t.*\n)*`).exec(await answerTo(world, 'dump'))?.[0]
    await session.request(operations.delete, { path: world.at('/e'), version: -1 })
    expect(await list()).to.equal(`\n${hex(session)}:\n`)
    await session.request(operations.closeSession, {})
    expect(await list()).to.equal(undefined)
  })

  it('dump: no session whose only ephemeral node was rejected', async world => {
    const session = await world.session()
    const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
    await session.request(operations.multi, [
      { type: opcodes.create, body: { path: world.at('/e'), data: '', acl, flags: 1 } },
      { type: opcodes.check, body: { path: world.at('/nothing'), version: 0 } },
    ])
    expect(await answerTo(world, 'dump')).not.to.include(`\n${hex(session)}:\n`)
  })

  it('cons: each connection, its session, and its last operation', async world => {
    const session = await sessionWithNode(world)
    const counts = 'queued=0,recved=3,sent=3,sid=0x[0-9a-f]+'
    const latencies = 'llat=\\d+,minlat=\\d+,avglat=\\d+,maxlat=\\d+'
    const shape = new RegExp(
      `^ /127\\.0\\.0\\.1:\\d+\\[1\\]\\(${counts},lop=EXIS,est=\\d{13},to=7654,lcxid=0x2,lzxid=0x[0-9a-f]+,lresp=\\d+,${latencies}\\)$`,
    )
    // The server counts a reply after sending it: in 5 of 300 tries the last one was received and not yet counted.
    await until(async () => {
      const lines = (await answerTo(world, 'cons')).split('\n')
      return shape.test(lines.find(each => each.includes(hex(session))) ?? '')
    })
  })
})
