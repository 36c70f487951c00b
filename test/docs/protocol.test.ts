import { expect } from 'chai'
import { startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { framesOn, read } from './frames-in-page.ts'
import { redumpFrame } from './frame-dump.ts'
import { holdConversation } from './conversation.ts'

describe('docs/protocol.md', function () {
  this.timeout(60_000)
  const shown = framesOn(read())

  for (const [name, text] of shown)
    it(`shows the fields that the bytes of “${name}” decode to`, () => expect(redumpFrame(text).text).to.equal(text))

  it('fails the check if a byte of a frame is wrong', () => {
    const text = shown.get('event') ?? ''
    const wrong = text.replace('2f6772656574696e67', '2f6772656574696e68')
    expect(wrong).not.to.equal(text)
    expect(redumpFrame(wrong).text).not.to.equal(wrong)
  })

  it('shows the same fields as a conversation with a real server', async () => {
    await using server = await startApacheZooKeeper()
    const frames = await holdConversation(server)
    expect([...frames.keys()]).to.deep.equal([...shown.keys()])
    for (const [name, { text }] of frames) expect(fieldsOf(text), name).to.deep.equal(fieldsOf(shown.get(name) ?? ''))
  })
})

/** Returns the parts that are equal in every conversation: no ids, times, uuids, nor their bytes. */
const fieldsOf = (text: string): string[] =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replace(/0x[0-9a-f]+/g, 'ID')
    .replace(/time +\d+$/gm, 'time TIME')
    // A server lists children in no particular order.
    .replace(/^.*children.*$/gm, line => line.replace(/lock-\d+/g, 'lock-N'))
    .split('\n')
    .map((line, i) => (i < 2 ? line : line.slice(40)))
