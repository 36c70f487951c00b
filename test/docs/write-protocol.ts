// Rewrites the frames of docs/protocol.md from a conversation with a real server: npx tsx test/docs/write-protocol.ts
import { writeFileSync } from 'node:fs'
import { startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { file, read, withFrames } from './frames-in-page.ts'
import { holdConversation } from './conversation.ts'

await using server = await startApacheZooKeeper()
const frames = await holdConversation(server)
const textOf = (name: string) => {
  const frame = frames.get(name)
  if (frame === undefined) throw new Error(`no frame is named ${name}`)
  return frame.text
}
writeFileSync(file, withFrames(read(), textOf))
