import type {CompletionPlace} from './places.ts'

/** The completion script of fish, with what each word is for. */
export function fishScript(places: readonly CompletionPlace[]): string {
  const [root] = places
  const everywhere = new Set(root!.options.map(({word}) => word))
  const lines = places.flatMap(({path, commands, choices, options}) => {
    const here = `complete -c gateway -n ${quoted(`__gateway_is ${quoted(path)}`)}`
    return [
      ...commands.map(({word, meaning}) => `${here} -f -a ${quoted(word)} -d ${quoted(meaning)}`),
      ...choices.map(word => `${here} -f -a ${quoted(word)}`),
      ...options.filter(({word}) => path !== '' && !everywhere.has(word)).map(option => `${here} ${optionOf(option)}`),
    ]
  })
  return `# fish completion of gateway. Keep it in ~/.config/fish/completions/gateway.fish
set -g __gateway_places ${places
    .filter(({path}) => path)
    .map(({path}) => quoted(path))
    .join(' ')}
function __gateway_is
  set -l place ''
  for word in (commandline -opc)[2..-1]
    contains -- "$place $word" $__gateway_places; and set place "$place $word"
  end
  test "$place" = "$argv[1]"
end
${root!.options.map(option => `complete -c gateway ${optionOf(option)}`).join('\n')}
${lines.join('\n')}
`
}

function optionOf({word, short, meaning, takes_value}: CompletionPlace['options'][number]): string {
  return `-l ${word.slice(2)}${short ? ` -s ${short.slice(1)}` : ''}${takes_value ? ' -r' : ''} -d ${quoted(meaning)}`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
