import type {CompletionPlace, Word} from './places.ts'

/** The completion script of zsh, with what each word is for. */
export function zshScript(places: readonly CompletionPlace[]): string {
  const paths = places.filter(({path}) => path).map(({path}) => quoted(path))
  const cases = places.map(({path, commands, choices, options}) => {
    const words = [...commands, ...choices.map(word => ({word, meaning: ''}))]
    return `    (${quoted(path)})
      words_here=(${words.map(described).join(' ')})
      options_here=(${options.map(described).join(' ')})
      ;;`
  })
  const valued = [
    ...new Set(
      places.flatMap(({options}) =>
        options.filter(each => each.takes_value).flatMap(({word, short}) => (short ? [word, short] : [word])),
      ),
    ),
  ]
  return `#compdef gateway
# zsh completion of gateway. Use it with: source <(gateway completion zsh)
_gateway() {
  local place='' word
  local -a words_here options_here
  case "\${words[CURRENT-1]}" in
    (${valued.join('|')}) _files; return ;;
  esac
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      (${paths.join('|')}) place="$place $word" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  if [[ "$PREFIX" == -* ]]; then
    _describe -o option options_here
  elif (( \${#words_here} )); then
    _describe command words_here
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == _gateway ]]; then
  _gateway "$@"
else
  compdef _gateway gateway
fi
`
}

function described({word, meaning}: Word): string {
  return quoted(meaning ? `${word.replaceAll(':', '\\:')}:${meaning}` : word)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
