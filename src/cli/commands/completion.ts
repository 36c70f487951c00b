// `zkwire completion`.
import { command, type Command } from '../runner/command.ts'
import { optionsOf } from '../runner/arguments.ts'

export const completion = command({
  name: 'completion',
  summary: 'prints a script that completes commands, options and paths of nodes in a shell',
  details: ['Paths are completed by zkwire ls, so set $ZKWIRE_SERVER if the server is not on this machine.'],
  arguments: [{ name: 'SHELL', choices: ['bash', 'zsh', 'fish'], help: 'the shell: bash, zsh or fish' }],
  options: {},
  connects: false,
  hasJson: false,
  examples: [
    'eval "$(zkwire completion bash)"          # in ~/.bashrc; for zsh the same with zsh, in ~/.zshrc',
    'zkwire completion fish > ~/.config/fish/completions/zkwire.fish',
  ],
  async run({ argument, commands, out }) {
    const all = await Promise.all([...commands.values()].map(load => load()))
    const scripts: Readonly<Record<string, (all: readonly Command[]) => string>> = { bash, zsh, fish }
    await out.write(scripts[argument('SHELL')]?.(all) ?? '')
  },
})

const longOptions = (each: Command): string[] => Object.keys(optionsOf(each, true)).map(name => `--${name}`)

const bash = (all: readonly Command[]): string => `_zkwire() {
  local current=\${COMP_WORDS[COMP_CWORD]} words= parent
  local IFS=$'\\n'
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${all.map(({ name }) => name).join('\n')}" -- "$current"))
    return
  fi
  case $current in
    -*)
      case \${COMP_WORDS[1]} in
${all.map(each => `        ${each.name}) words="${longOptions(each).join('\n')}" ;;`).join('\n')}
      esac
      COMPREPLY=($(compgen -W "$words" -- "$current"))
      ;;
    /*)
      parent=\${current%/*}
      for words in $(zkwire ls "\${parent:-/}" 2>/dev/null); do
        case $parent/$words in
          "$current"*) COMPREPLY+=("$parent/$words") ;;
        esac
      done
      compopt -o nospace 2>/dev/null
      ;;
    *)
      COMPREPLY=($(compgen -f -- "$current"))
      ;;
  esac
}
complete -F _zkwire zkwire
`

/** zsh runs the function of bash. */
const zsh = (all: readonly Command[]): string =>
  `autoload -Uz compinit bashcompinit && compinit && bashcompinit\n${bash(all)}`

const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, each => `\\${each}`)}'`

const fish = (all: readonly Command[]): string => `function __zkwire_paths
  set -l current (commandline -ct)
  string match -q '/*' -- $current; or return
  set -l parent (string replace -r '/[^/]*$' '' -- $current)
  for name in (zkwire ls (test -n "$parent"; and echo $parent; or echo /) 2>/dev/null)
    echo $parent/$name
  end
end
complete -c zkwire -a '(__zkwire_paths)'
${all
  .flatMap(each => [
    `complete -c zkwire -f -n __fish_use_subcommand -a ${each.name} -d ${quoted(each.summary)}`,
    ...Object.entries(optionsOf(each, true)).map(
      ([name, { short, type, help }]) =>
        `complete -c zkwire -n '__fish_seen_subcommand_from ${each.name}' -l ${name}` +
        `${short === undefined ? '' : ` -s ${short}`}${type === 'string' ? ' -r' : ''} -d ${quoted(help)}`,
    ),
  ])
  .join('\n')}
`
