import {afterAll, beforeAll, describe} from 'vitest'
import {forRing} from '../support/ring.ts'
import {clientRows, openaiRows, operationRows} from './clients.ts'
import {testGoldens} from './files.ts'
import {dialectRows} from './fixtures.ts'
import {openScene, type Scene} from './scene.ts'

describe.runIf(forRing({own: false, ci: true, full: true}))('bytes and rows by dialect', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene()
  })
  afterAll(() => scene.close())

  testGoldens('dialects', {...dialectRows(), ...clientRows(), ...openaiRows(), ...operationRows()}, () => scene)
})
