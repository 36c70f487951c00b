// What the program says of servers whose answers to four-letter words are not those of ZooKeeper.
import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { inProcess } from './in-process.ts'

/** Answers words as ClickHouse Keeper, which closes the connection at a word that is not in its list. */
const KEEPER: Readonly<Record<string, string>> = {
  cons:
    ' 127.0.0.1:52163(recved=0,sent=0,sid=0xffffffffffffffff,lop=NA,est=1,to=30000,lzxid=0xffffffffffffffff)\n' +
    ' 10.0.0.7:52042(recved=9,sent=18,sid=0x0000000000000001,lop=List,est=1,to=30000,lcxid=0x0000000000000005)\n',
  dump:
    'Sessions dump (2):\n0x0000000000000001\n0x0000000000000002\n' +
    'Sessions with Ephemerals (1):\n0x0000000000000001\n\t/a\n\t/b\n',
  wchp: `/a\n${Array.from({ length: 12 }, (_, i) => `\t0x000000000000000${i.toString(16)}\n`).join('')}`,
  mntr: 'zk_version\tv21.11.1.1\nzk_watch_count\t12\n',
}

describe('four-letter words of ClickHouse Keeper', () => {
  const servers: Server[] = []
  async function program(answers: Readonly<Record<string, string>>) {
    const server = createServer(socket => {
      socket.on('error', () => undefined)
      socket.once('data', word => socket.end(answers[String(word)] ?? ''))
    })
    servers.push(server.listen(0, '127.0.0.1'))
    await once(server, 'listening')
    const connectString = `127.0.0.1:${(server.address() as AddressInfo).port}`
    return { connectString, ...(await inProcess({ connectString, dial: () => expect.fail('no session is needed') })) }
  }
  after(() => servers.forEach(each => void each.close()))

  it('are read by sessions, which prints ? for what a word without an answer would say', async () => {
    const { run, connectString } = await program(KEEPER)
    const { status, out, err } = await run(['sessions'])
    expect(out.split('\n').map(line => line.split(/ +/))).to.deep.equal([
      ['session', 'client', 'server', 'timeout', 'requests', 'nodes', 'watches'],
      ['0x1', '10.0.0.7:52042', connectString, '30000', '9', '2', '?'],
      ['0x2', '-', '-', '-', '-', '0', '?'],
      [''],
    ])
    expect(err).to.contain('closed the connection without an answer to wchc')
    expect(status).to.equal(1)
  })

  it('are told as unknown by sessions if their form is, and not as no connection and no nodes', async () => {
    const { run } = await program({
      cons: 'one connection\n',
      dump: `Sessions:\n0x1\n${KEEPER['dump']}`,
      wchc: 'none\n',
    })
    const { out, err } = await run(['sessions'])
    expect(out).to.match(/^0x2 +\? +\? +\? +\? +0 +\?$/m)
    expect(err).to.match(/answers cons in a form that zkwire does not know\n.*answers wchc in a form/)
  })

  it('are read by herds, which finds that the node is ephemeral', async () => {
    const { run } = await program(KEEPER)
    const { status, out, err } = await run(['herds', '--for', '0.001'])
    expect(out).to.match(/^ *12 +1 of 1 +\/a +ephemeral$/m)
    expect([status, err]).to.deep.equal([0, ''])
  })
})
