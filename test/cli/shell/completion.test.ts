import { expect } from 'chai'
import { complete } from '../../../src/cli/shell/completion.ts'
import { commands } from '../../../src/cli/table.ts'

const children: Readonly<Record<string, readonly string[]>> = {
  '/': ['app', 'zookeeper'],
  '/app': ['colour', 'colours', 'two words', 'bell\u0007', "it's"],
  '/app/colours': ['red'],
}

const owner = {
  commands,
  current: '/app',
  hasConnectionOptions: false,
  childrenOf: (path: string) => Promise.resolve(children[path] ?? []),
  hasChildren: (path: string) => Promise.resolve(path in children),
}

const candidates = async (line: string) => (await complete(line, owner))[0]

describe('the completion of a shell', () => {
  it('offers commands for the first word, with a space after the word', async () => {
    expect(await complete('l', owner)).to.deep.equal([['lock ', 'leader ', 'ls '], 'l'])
    expect((await candidates('')).length).to.equal(commands.size)
    expect(await candidates('help exp')).to.deep.equal(['explain ', 'export '])
  })

  it('knows the options of a connection before the command, unless the shell has a session', async () => {
    const program = { ...owner, hasConnectionOptions: true, current: undefined }
    const offered = async (line: string) => (await complete(line, program))[0]
    expect(await offered('-s zk1 --json get /ap')).to.deep.equal(['/app/'])
    expect(await offered('--server=zk1 sy')).to.deep.equal(['sync '])
    expect(await offered('--se')).to.deep.equal(['--server '])
    expect(await offered('--server ')).to.deep.equal([])
    expect(await offered('--recursive ')).to.deep.equal([])
    expect(await candidates('--se')).to.deep.equal([])
  })

  it('offers the options of the command, and the choices of an option or an argument', async () => {
    expect(await candidates('ls --re')).to.deep.equal(['--recursive '])
    expect(await candidates('ls --server')).to.deep.equal([])
    expect(await candidates('lock --dialect k')).to.deep.equal(['kazoo '])
    expect(await candidates('completion f')).to.deep.equal(['fish '])
  })

  it('offers the children of the path that is typed, relative ones too, and a slash after the only one that has children', async () => {
    expect(await complete('get /a', owner)).to.deep.equal([['/app/'], '/a'])
    expect(await candidates('get /app/col')).to.deep.equal(['/app/colour', '/app/colours'])
    expect(await candidates('get colours')).to.deep.equal(['colours/'])
    expect(await candidates('get colours/')).to.deep.equal(['colours/red '])
    expect(await candidates('get ../zo')).to.deep.equal(['../zookeeper '])
    expect(await candidates('get -r /missing/')).to.deep.equal([])
  })

  it('counts options that take a value, and repeats the last argument', async () => {
    expect(await candidates('create --ttl 5 /zo')).to.deep.equal(['/zookeeper '])
    expect(await candidates('set /app /zo')).to.deep.equal([])
    expect(await candidates('rm /app /zo')).to.deep.equal(['/zookeeper '])
  })

  it('quotes names with spaces and quotes, also after a quote that is open', async () => {
    expect(await complete('get tw', owner)).to.deep.equal([[String.raw`two\ words `], 'tw'])
    expect(await complete('get "two w', owner)).to.deep.equal([[String.raw`two\ words `], '"two w'])
    expect(await complete(String.raw`get two\ w`, owner)).to.deep.equal([[String.raw`two\ words `], String.raw`two\ w`])
    expect(await candidates('get it')).to.deep.equal([String.raw`it\'s `])
  })

  it('offers no name with a control character, which would reach the terminal', async () => {
    expect(await candidates('get be')).to.deep.equal([])
  })

  it('offers nothing for an unknown command', async () => {
    expect(await candidates('unknown /a')).to.deep.equal([])
  })
})
