// The options of all commands.
import { expect } from 'chai'
import { leadingOptions, optionsOf, parse } from '../../../src/cli/runner/arguments.ts'
import { commands } from '../../../src/cli/table.ts'

describe('the options of zkwire', () => {
  for (const [name, load] of commands)
    it(`of ${name} have different letters, and each has a line of help`, async () => {
      const command = await load()
      const options = Object.values(optionsOf(command, true))
      const letters = options.flatMap(({ short }) => short ?? [])
      expect(letters).to.deep.equal([...new Set(letters)])
      for (const { help } of options) expect(help).not.to.equal('')
      expect(command.name).to.equal(name)
      expect(command.summary).to.match(/^[^A-Z].*[^.]$/)
    })

  it('are not offered for a connection in a shell, which has one', async () => {
    const command = await commands.get('get')?.()
    expect(Object.keys(command === undefined ? {} : optionsOf(command, false))).not.to.include('server')
  })

  it('of a connection may come before the command, each as the command itself would read it', () => {
    const words = ['-s', 'zk1', '-szk2', '--auth', 'a:b', '--auth=c:=', '--tls', '--json', 'ls', '--server', 'zk3', '/']
    expect(leadingOptions(words)).to.deep.equal({
      options: ['--server=zk1', '--server=zk2', '--auth=a:b', '--auth=c:=', '--tls', '--json'],
      rest: ['ls', '--server', 'zk3', '/'],
    })
    for (const rest of [['--server'], ['-s'], ['--recursive', 'ls'], ['--serverx=1'], ['-R'], ['--', 'ls'], ['-'], []])
      expect(leadingOptions(['--timeout', '-1', ...rest])).to.deep.equal({ options: ['--timeout=-1'], rest })
  })

  it('end at -- if the command runs a program', async () => {
    const lock = await commands.get('lock')?.()
    if (lock === undefined) expect.fail('there is no lock')
    const parsed = parse(lock, ['/a', '-n', '--', 'sh', '-c', '--', 'x'], optionsOf(lock, true), text => text)
    expect(parsed.program).to.deep.equal(['sh', '-c', '--', 'x'])
    expect(parsed.values).to.include({ 'no-wait': true })
    expect(parsed.positionals.get('PATH')).to.deep.equal(['/a'])
  })
})
