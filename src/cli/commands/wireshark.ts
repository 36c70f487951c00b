// `zkwire wireshark`.
import { readFile } from 'node:fs/promises'
import { command } from '../runner/command.ts'
import { declarations } from '../wireshark/declarations.ts'

/** The part of the dissector that does not depend on the declarations. The package has the sources too. */
const DISSECTOR = new URL('../../../src/cli/wireshark/dissector.lua', import.meta.url)

export const wireshark = command({
  name: 'wireshark',
  summary: 'prints a dissector with which Wireshark and tshark read the protocol',
  details: [
    'The dissector is a program in Lua, written from the declarations that `zkwire explain` reads frames with. It joins each ' +
      'reply to its request, and each event to the request that set its watch. Filters are, for example, zookeeper.path, ' +
      'zookeeper.error and zookeeper.time. It reads ports 2181 and 2281: the preference zookeeper.ports names others. ' +
      'It does not show passwords as text, but Wireshark shows all bytes of a packet.',
  ],
  arguments: [],
  options: {},
  examples: [
    'zkwire wireshark > ~/.local/lib/wireshark/plugins/zookeeper.lua',
    'tshark -X lua_script:zookeeper.lua -r capture.pcap -Y \'zookeeper.path contains "/locks"\'',
  ],
  connects: false,
  hasJson: false,
  async run({ out }) {
    await out.write(`-- Written by \`zkwire wireshark\`.\n${declarations()}\n\n${await readFile(DISSECTOR, 'utf8')}`)
  },
})
