import {segmind} from '../../../src/providers/segmind/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(segmind, {imageGenerate: 3})
testHostile(segmind, ['imageGenerate'])
