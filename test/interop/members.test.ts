// zkwire's groups and services together with those of Curator and kazoo.
import { expect } from 'chai'
import { Membership, Services, uriOf } from '../../src/recipes/index.ts'
import { until } from '../../environment/until.ts'
import { describeInterop, SHORT } from './fixture.ts'
import { curators, kazoos, type Peer } from './peers.ts'

interface Payload {
  '@class': string
  text: string
  weight: number
}
const CLASS = 'JavaPeer$Payload'

describeInterop('groups and services with', curators, all => {
  const theirMembers = () => all.peer.ask('members', 'group', all.path)

  it('GroupMember and Membership see each other, with their data', async () => {
    await using group = new Membership(all.path, { id: 'ours', data: 'one' })
    await group.start(all.client)
    await all.peer.ask('join', 'group', all.path, 'theirs host-1')
    const ourMembers = () => group.members.map(({ id, data }) => `${id}=${data?.toString()}`).join()
    await until(() => ourMembers() === 'ours=one,theirs=host-1')
    await until(async () => (await theirMembers()) === 'ours=one,theirs=host-1')
    await group.setData('two')
    await all.peer.ask('setData', 'group', all.path, 'host-2')
    await until(() => ourMembers() === 'ours=two,theirs=host-2')
    await until(async () => (await theirMembers()) === 'ours=two,theirs=host-2')
    await all.peer.ask('leave', 'group', all.path)
    await until(() => ourMembers() === 'ours=two')
    await all.peer.ask('join', 'group', all.path, 'theirs host-2')
    await group.close()
    await until(async () => (await theirMembers()) === 'theirs=host-2')
    await all.peer.ask('leave', 'group', all.path)
  })

  it('ServiceDiscovery finds our instances, and its provider chooses them', async () => {
    await using services = new Services(all.path)
    await services.start(all.client)
    const payload: Payload = { '@class': CLASS, text: 'ours', weight: 5 }
    const uriSpec = '{scheme}://{address}:{port}/v1'
    const given = { name: 'api', id: 'zkwire', address: '10.0.0.2', port: 81, payload, uriSpec }
    const api = await services.register(given)
    await services.register({ name: 'plain', id: 'p', address: 'h', sslPort: 443, uriSpec: '{scheme}://{address}' })
    expect(await all.peer.ask('names', '', all.path)).to.equal('api,plain')
    const line = 'zkwire http://10.0.0.2:81/v1 DYNAMIC null true ours*5'
    expect(await all.peer.ask('instances', 'api', all.path)).to.equal(line)
    expect(await all.peer.ask('instances', 'plain', all.path)).to.equal('p https://h DYNAMIC 443 true null')
    expect(await all.peer.ask('choose', 'api', all.path)).to.equal(line)
    await api.update({ enabled: false })
    await until(async () => (await all.peer.ask('choose', 'api', all.path)) === 'none')
    expect(await all.peer.ask('instances', 'api', all.path)).to.equal(line.replace('true', 'false'))
    await api.update({ enabled: true, port: 82 })
    await until(async () => (await all.peer.ask('choose', 'api', all.path)).includes(':82/'))
    await api.close()
    await until(async () => (await all.peer.ask('choose', 'api', all.path)) === 'none')
  })

  it('our provider finds the instances of ServiceDiscovery, and its JSON is ours', async () => {
    await using services = new Services(all.path)
    await services.start(all.client)
    const provider = await services.provider<Payload>('api')
    const registeredAt = Number(await all.peer.ask('register', 'api', all.path, 'theirs'))
    await until(() => provider.instances.length === 1)
    const [instance] = provider.instances
    expect(instance).to.deep.include({
      id: 'java',
      address: '10.0.0.1',
      port: 8080,
      payload: { '@class': CLASS, text: 'theirs', weight: 3 },
      registrationTimeUTC: registeredAt,
      serviceType: 'DYNAMIC',
      enabled: true,
    })
    expect(instance && uriOf(instance)).to.equal('http://10.0.0.1:8080')
    const theirs = (await all.client.getData(`${all.path}/api/java`)).data?.toString()
    const ours = await services.register({ ...instance, name: 'copy', id: 'java' })
    expect((await all.client.getData(ours.path)).data?.toString()).to.equal(theirs?.replace('"api"', '"copy"'))
    await all.peer.ask('unregister', 'api', all.path)
    await until(() => provider.instances.length === 0)
  })

  it('our provider notices the death of Curator’s process', async () => {
    const victim = await all.start(all.connectString, SHORT)
    await victim.ask('register', 'api', all.path, 'dying')
    await using services = new Services(all.path)
    await services.start(all.client)
    const provider = await services.provider('api')
    expect(provider.instances).to.have.length(1)
    await victim.kill()
    await until(() => provider.instances.length === 0)
  })
})

describeInterop('groups with', kazoos, all => {
  for (const dialect of ['party', 'shallowParty'] as const)
    it(`${dialect === 'party' ? 'Party' : 'ShallowParty'} and Membership see each other`, async () => {
      const ask = (peer: Peer | undefined, command: string, argument = '') =>
        peer?.ask(command, dialect, all.path, argument)
      const [one, two] = all.peers
      await ask(one, 'join', 'kazoo-1')
      await using group = new Membership(all.path, { id: 'ours', dialect })
      await group.start(all.client)
      await ask(two, 'join', 'kazoo-2')
      await until(() => group.members.length === 3)
      expect(group.members.map(({ id }) => id)).to.deep.equal(['kazoo-1', 'ours', 'kazoo-2'])
      expect(await ask(one, 'members')).to.equal('kazoo-1,kazoo-2,ours')
      await ask(one, 'leave')
      await until(() => group.members.length === 2)
      await group.close()
      expect(await ask(two, 'members')).to.equal('kazoo-2')
      await ask(two, 'leave')
    })
})
