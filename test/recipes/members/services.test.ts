import { expect } from 'chai'
import { supervise, ZooKeeperError, type Client } from '../../../src/index.ts'
import { Services, type ServiceInstance } from '../../../src/recipes/index.ts'
import { abortOf, failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

const idsOf = (instances: readonly ServiceInstance[]) => instances.map(({ id }) => id).sort()

onBothServers('Services', (fixture, { itInVirtualTime, itEverywhere }) => {
  let path: string

  beforeEach(() => {
    path = `${fixture.path}/services`
  })

  const dataOf = async (node: string) => (await fixture.observer.getData(node)).data?.toString()

  async function start(client?: Client): Promise<Services> {
    const services = new Services(path)
    await services.start(client ?? (await fixture.open()))
    return services
  }

  itEverywhere('registers an instance, finds it, and deletes its node when it is unregistered', async () => {
    const [one, two] = [await start(), await start()]
    const api = await one.register({ name: 'api', id: 'a', address: '10.0.0.1', port: 80, registrationTimeUTC: 5 })
    expect(api.path).to.equal(`${path}/api/a`)
    expect(await dataOf(api.path)).to.equal(
      '{"name":"api","id":"a","address":"10.0.0.1","port":80,"sslPort":null,"payload":null,' +
        '"registrationTimeUTC":5,"serviceType":"DYNAMIC","uriSpec":null}',
    )
    expect(await two.names()).to.deep.equal(['api'])
    expect(await two.instances('api')).to.deep.equal([api.instance])
    expect(await two.instances('other')).to.deep.equal([])
    await api.update({ port: 81, payload: { weight: 3 }, enabled: false })
    expect(await two.instances('api')).to.deep.equal([
      { ...api.instance, port: 81, payload: { weight: 3 }, enabled: false },
    ])
    expect(await dataOf(api.path)).to.match(/"uriSpec":null,"enabled":false\}$/)
    await api.close()
    expect(await two.instances('api')).to.deep.equal([])
    await Promise.all([one.close(), two.close()])
  })

  itEverywhere('a provider follows the instances, and chooses each in turn', async () => {
    const [one, two] = [await start(), await start()]
    const provider = await two.provider('api')
    expect(provider.choose()).to.equal(undefined)
    const seen: string[] = []
    const reading = (async () => {
      for await (const instances of provider.changes()) seen.push(idsOf(instances).join())
    })()
    const registrations = []
    for (const id of ['a', 'b', 'c']) registrations.push(await one.register({ name: 'api', id }))
    await fixture.until(() => provider.instances.length === 3)
    const chosen = Array.from({ length: 6 }, () => provider.choose()?.id)
    expect(new Set(chosen).size).to.equal(3)
    expect(chosen.slice(0, 3)).to.deep.equal(chosen.slice(3))
    await registrations[1]?.update({ enabled: false })
    await fixture.until(() => provider.instances.some(({ enabled }) => !enabled))
    expect(new Set(Array.from({ length: 6 }, () => provider.choose()?.id))).to.deep.equal(new Set(['a', 'c']))
    await one.close()
    await fixture.until(() => provider.instances.length === 0)
    await two.close()
    await reading
    expect(seen[0]).to.equal('')
    expect(seen.at(-1)).to.equal('')
    expect(seen).to.include('a,b,c')
  })

  itEverywhere('registers a new instance in the session of the last start()', async () => {
    const services = await start()
    const next = await fixture.open()
    await services.start(next)
    const { path: node } = await services.register({ name: 'api', id: 'late' })
    expect((await fixture.observer.exists(node))?.ephemeralOwner).to.equal(next.sessionId)
    await services.close()
  })

  itInVirtualTime('removes at close() a registration whose own close() the server has refused', async () => {
    const services = new Services(fixture.path)
    await services.start(await fixture.open())
    const registration = await services.register({ name: 'api', id: 'a' })
    const refuse = fixture.embedded.faults.replace('delete', 'NOAUTH', { times: Infinity })
    expect(await failureOf(registration.close())).to.have.property('code', 'NOAUTH')
    refuse.release()
    await services.close()
    expect(await fixture.observer.exists(registration.path)).to.equal(null)
  })

  itInVirtualTime('a provider leaves out an instance with errors for a while', async () => {
    const services = await start()
    for (const id of ['a', 'b']) await services.register({ name: 'api', id })
    const provider = await services.provider('api', { strategy: 'random', errorThreshold: 3, downTime: 1000 })
    const chosen = () => ['a', 'b'].filter(id => Array.from({ length: 50 }, () => provider.choose()?.id).includes(id))
    for (let i = 0; i < 2; i++) provider.noteError({ id: 'a' })
    expect(chosen()).to.deep.equal(['a', 'b'])
    await fixture.sleep(900)
    provider.noteError({ id: 'a' })
    expect(chosen()).to.deep.equal(['b'])
    provider.noteError({ id: 'b' })
    await fixture.sleep(100)
    expect(chosen()).to.deep.equal(['a', 'b'])
    for (const id of ['a', 'b', 'a', 'b', 'a', 'b']) provider.noteError({ id })
    expect(provider.choose()).to.equal(undefined)
    await services.close()
  })

  itInVirtualTime('a sticky provider keeps its choice until that is gone or down, and a function chooses', async () => {
    const services = await start()
    const all = new Map<string, { close(): Promise<void> }>()
    for (const id of 'abcdefgh') all.set(id, await services.register({ name: 'api', id }))
    const sticky = await services.provider('api', { strategy: 'sticky' })
    const first = sticky.choose()?.id ?? ''
    for (let i = 0; i < 20; i++) expect(sticky.choose()?.id).to.equal(first)
    await all.get(first)?.close()
    await fixture.until(() => sticky.instances.length === 7)
    const second = sticky.choose()?.id ?? ''
    expect(second).not.to.equal(first)
    for (let i = 0; i < 2; i++) sticky.noteError({ id: second })
    const third = sticky.choose()?.id
    expect(third).not.to.equal(second)
    for (let i = 0; i < 20; i++) expect(sticky.choose()?.id).to.equal(third)
    await fixture.sleep(30_000)
    expect(sticky.choose()?.id).to.equal(third)
    const last = await services.provider<number>('api', {
      strategy: instances => instances.toSorted((x, y) => (x.id < y.id ? 1 : -1))[0] as ServiceInstance<number>,
    })
    expect(last.choose()?.id).to.equal(first === 'h' ? 'g' : 'h')
    await services.close()
  })

  itEverywhere('keeps the nodes of each type as Java does', async () => {
    const client = await fixture.open()
    const services = await start(client)
    const of = async (serviceType: ServiceInstance['serviceType']) => {
      const { path: node } = await services.register({ name: serviceType, id: 'x', serviceType })
      return [node.slice(path.length), (await fixture.observer.exists(node))?.ephemeralOwner]
    }
    expect(await of('DYNAMIC')).to.deep.equal(['/DYNAMIC/x', client.sessionId])
    expect(await of('STATIC')).to.deep.equal(['/STATIC/x', 0n])
    expect(await of('PERMANENT')).to.deep.equal(['/PERMANENT/x', 0n])
    const [node, owner] = await of('DYNAMIC_SEQUENTIAL')
    expect(node).to.match(/^\/DYNAMIC_SEQUENTIAL\/_c_[0-9a-f-]{36}-x\d{10}$/)
    expect(owner).to.equal(client.sessionId)
    await services.close()
    await using others = await start(client)
    for (const name of await others.names()) expect(await others.instances(name)).to.deep.equal([])
  })

  itEverywhere('goes on in the next session of supervise()', async () => {
    const services = new Services(path)
    const other = await start()
    const provider = await other.provider('api')
    let runs = 0
    let own: { instances: readonly ServiceInstance[] } | undefined
    await supervise(fixture.server.connectString, fixture.server.options, async (zk, signal) => {
      await services.start(zk)
      if (++runs === 1) {
        await services.register({ name: 'api', id: 'a' })
        own = await services.provider('api')
      }
      const stat = await fixture.observer.exists(`${path}/api/a`)
      expect(stat?.ephemeralOwner).to.equal(zk.sessionId)
      if (runs === 3) return
      await fixture.expire(zk)
      await abortOf(signal)
    })
    expect(own?.instances).to.have.length(1)
    await services.close()
    await fixture.until(() => provider.instances.length === 0)
    await other.close()
  })

  itInVirtualTime('leaves out a node whose data is no instance, and reports it once', async () => {
    const services = await start()
    await services.register({ name: 'api', id: 'a' })
    for (const [name, data] of Object.entries({ b: 'no json', c: '[]', d: '{"name":"api"}', e: null }))
      await fixture.observer.create(`${path}/api/${name}`, data)
    const invalid: string[] = []
    const provider = await services.provider('api', { onInvalidInstance: node => invalid.push(node) })
    for (let i = 0; i < 3; i++) expect(idsOf(provider.instances)).to.deep.equal(['a'])
    expect(invalid.sort()).to.deep.equal(['b', 'c', 'd', 'e'].map(name => `${path}/api/${name}`))
    await services.close()
  })

  itInVirtualTime('chooses by numbers and booleans that another program has written as strings', async () => {
    const services = await start()
    await fixture.observer.ensurePath(`${path}/api`)
    for (const id of ['a', 'b']) {
      const data = { name: 'api', id, address: 'h', port: '8080', enabled: String(id === 'b') }
      await fixture.observer.create(`${path}/api/${id}`, JSON.stringify(data))
    }
    const provider = await services.provider('api')
    for (let i = 0; i < 3; i++) expect(provider.choose()).to.include({ id: 'b', port: 8080 })
    expect((await services.instances('api')).filter(({ enabled }) => enabled)).to.have.length(1)
    await services.close()
  })

  itInVirtualTime('bases an update on those that are under way', async () => {
    const services = await start()
    const api = await services.register({ name: 'api', port: 1 })
    await Promise.all([api.update({ port: 2 }), api.update({ enabled: false })])
    expect(api.instance).to.include({ port: 2, enabled: false })
    expect((await services.instances('api'))[0]).to.include({ port: 2, enabled: false })
    expect(await failureOf(api.update({ port: 3 }, { timeout: -1 }))).to.have.property('code', 'BADARGUMENTS')
    await api.update({ enabled: true, port: undefined })
    expect(api.instance).to.include({ port: 2, enabled: true })
    await services.close()
  })

  itInVirtualTime('keeps the payload as it was at the call, also in an update of something else', async () => {
    const services = await start()
    const payload = { weight: 1 }
    const api = await services.register({ name: 'api', payload })
    payload.weight = 9
    await api.update({ port: 2 })
    expect((await services.instances('api'))[0]).to.deep.include({ port: 2, payload: { weight: 1 } })
    expect(api.instance.payload).to.deep.equal({ weight: 1 })
    await services.close()
  })

  itEverywhere('registers an instance although an earlier call of its id was cancelled before it began', async () => {
    const services = await start()
    const wanted = { name: 'api', id: 'a' }
    expect(await failureOf(services.register(wanted, { signal: AbortSignal.abort('too late') }))).to.equal('too late')
    expect(await failureOf(services.register(wanted, { timeout: -1 }))).to.have.property('code', 'BADARGUMENTS')
    expect(await services.register(wanted)).to.have.property('path', `${path}/api/a`)
    await services.close()
  })

  itInVirtualTime('refuses wrong arguments', async () => {
    const bad = async (call: Promise<unknown>, detail: RegExp) => {
      const error = await failureOf(call)
      expect(error).to.be.instanceOf(ZooKeeperError).with.property('code', 'BADARGUMENTS')
      expect((error as Error).message).to.match(detail)
    }
    const early = new Services(path)
    await bad(early.register({ name: 'api' }), /call start\(client\) first/)
    await bad(early.names(), /call start\(client\) first/)
    const services = await start()
    await bad(services.register({ name: 'a/b' }), /name must be a name/)
    await bad(services.register({ name: 'api', id: '' }), /id must be a name/)
    await bad(services.register({ name: 'api', port: 'x' as never }), /port must be/)
    await bad(services.register({ name: 'api', host: 'x' } as never), /no option 'host'/)
    await bad(services.register({ name: 'api', uriSpec: '{scheme' }), /brace/)
    for (const parts of [[null], ['x'], [{ value: 'x' }], 5, undefined])
      await bad(services.register({ name: 'api', uriSpec: { parts } as never }), /uriSpec must be/)
    await bad(services.register({ name: 'api', serviceType: 'STATICAL' as never }), /serviceType must be one of/)
    await bad(services.provider('..'), /\.\./)
    const api = await services.register({ name: 'api', id: 'a' })
    await bad(services.register({ name: 'api', id: 'a' }), /registered already/)
    await bad(api.update({ port: 'x' as never }), /port must be/)
    await services.close()
  })
})
