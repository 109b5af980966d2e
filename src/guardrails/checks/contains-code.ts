import {z} from 'zod'
import {check, excerpt, judged, not, type Verdict} from '../check.ts'
import {fences} from '../embedded-json.ts'
import {inTimeSlices, type SlicedWork} from '../time-slices.ts'

/** The tags of a fenced block for each language. */
const TAGS = {
  SQL: ['sql', 'mysql', 'postgresql', 'plsql', 'sqlite'],
  Python: ['python', 'py', 'python3'],
  TypeScript: ['typescript', 'ts', 'tsx'],
  JavaScript: ['javascript', 'js', 'jsx', 'mjs'],
  Java: ['java'],
  'C#': ['c#', 'csharp', 'cs'],
  'C++': ['c++', 'cpp', 'cc', 'cxx', 'hpp'],
  C: ['c', 'h'],
  Ruby: ['ruby', 'rb'],
  PHP: ['php'],
  Swift: ['swift'],
  Kotlin: ['kotlin', 'kt'],
  Go: ['go', 'golang'],
  Rust: ['rust', 'rs'],
  Scala: ['scala'],
  R: ['r'],
  Perl: ['perl', 'pl'],
  Shell: ['shell', 'sh', 'bash', 'zsh', 'console'],
  HTML: ['html', 'htm'],
  CSS: ['css'],
  XML: ['xml'],
  JSON: ['json'],
  YAML: ['yaml', 'yml'],
  Markdown: ['markdown', 'md'],
  Dockerfile: ['dockerfile', 'docker'],
} as const

const LANGUAGES = Object.keys(TAGS) as (keyof typeof TAGS)[]

export const containsCode = check({
  id: 'default.containsCode',
  title: 'Contains code',
  about: 'Passes if a fenced code block of the answer is tagged as this language.',
  sides: ['output'],
  shape: {format: z.enum(LANGUAGES).describe('The language.'), not},
  run: ({text}, parameters) => inTimeSlices(judging(text, parameters)),
})

function* judging(
  text: string,
  {format, not}: {readonly format: keyof typeof TAGS; readonly not: boolean},
): SlicedWork<Verdict> {
  const blocks = yield* fences(text)
  const tags: readonly string[] = TAGS[format]
  const found = blocks.some(({tag}) => tags.includes(tag))
  const explanation = blocks.length
    ? `A block of ${format} was ${found ? '' : 'not '}found.`
    : 'There is no code block.'
  return judged(found, {explanation, format, blocks: blocks.length, not, textExcerpt: excerpt(text)}, not)
}
