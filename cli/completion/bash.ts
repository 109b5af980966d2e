import type {CompletionPlace} from './places.ts'

/** The completion script of bash: the commands typed so far say the place, the place says the words. */
export function bashScript(places: readonly CompletionPlace[]): string {
  const paths = places.filter(({path}) => path).map(({path}) => `'${path}'`)
  const cases = places.map(({path, commands, choices, options}) => {
    const words = [...commands.map(({word}) => word), ...choices].join(' ')
    return `    '${path}') words='${words}' options='${options.map(({word}) => word).join(' ')}' ;;`
  })
  const valued = [
    ...new Set(
      places.flatMap(({options}) =>
        options.filter(each => each.takes_value).flatMap(({word, short}) => (short ? [word, short] : [word])),
      ),
    ),
  ]
  return `# bash completion of gateway. Use it with: source <(gateway completion bash)
_gateway() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} place='' words='' options='' i
  COMPREPLY=()
  # The value of an option: file names, which bash offers when we offer nothing.
  case "$before" in
    ${valued.join('|')}) return ;;
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$place \${COMP_WORDS[i]}" in
      ${paths.join('|')}) place="$place \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  [[ $current == -* ]] && words=$options
  while IFS= read -r i; do COMPREPLY+=("$i"); done < <(compgen -W "$words" -- "$current")
}
complete -o bashdefault -o default -F _gateway gateway
`
}
