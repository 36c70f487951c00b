// Checks the documents that quote a run against docs/*.json, and the command that measures these runs anew.
import { expect } from 'chai'
import { readResult } from '../../bench/output/result.ts'
import { readPeersResult } from '../../bench/peers/result.ts'
import { parseServicesResult } from '../../bench/services/result.ts'
import { readDocument } from '../support/document.ts'
import { measuredDocuments, type Results } from './measured-documents.ts'
import { commandsOf, parse, runs } from './measure-options.ts'

describe('the documents that quote a run', () => {
  let results: Results
  before(async () => {
    results = {
      herd: await readResult('docs/herd.json'),
      peers: await readPeersResult('docs/peers.json'),
      forecast: await readResult('docs/forecast.json'),
      services: parseServicesResult(readDocument('docs/services.json')),
    }
  })

  it('are what `npm run bench -- docs --write` makes of the recorded runs', () => {
    for (const [file, text] of Object.entries(measuredDocuments(results, readDocument('bench/README.md'))))
      expect(readDocument(file), file).to.equal(text)
  })
})

describe('npm run bench -- docs', () => {
  it('measures what the recorded runs have measured', () => {
    const said = (file: string) => (JSON.parse(readDocument(file)) as { commandLine: string }).commandLine
    for (const { name, file, command, args } of commandsOf(runs, false))
      expect(said(file), name).to.equal(`${command} ${args.join(' ')}`)
  })

  it('writes small runs to other files', () => {
    for (const { args } of commandsOf(runs, true)) expect(args.join(' ')).not.to.match(/docs\/|--docs/)
  })

  it('chooses runs with --only, and measures none with --write', () => {
    const namesOf = (...args: string[]) => {
      const options = parse(args)
      return options === 'help' ? options : options.runs.map(({ name }) => name)
    }
    expect(namesOf()).to.deep.equal(['herd', 'forecast', 'peers', 'services'])
    expect(namesOf('--only', 'peers,herd')).to.deep.equal(['herd', 'peers'])
    expect(namesOf('--write')).to.deep.equal([])
    expect(() => parse(['--only', 'herds'])).to.throw('--only: "herds" is not one of herd, forecast, peers, services')
  })
})
