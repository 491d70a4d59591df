// The page in a real browser against a running demo: node oplog.test.js URL [folder for screenshots]
// Starts no server. CHROMIUM names the browser's executable (default /usr/bin/chromium).
'use strict';
const assert = require('node:assert/strict');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { chromium } = require('playwright-core');

const [url, screenshots] = process.argv.slice(2);
if (!url) {
  console.error('usage: node oplog.test.js URL [folder for screenshots]');
  process.exit(2);
}

const MESSAGES = {
  'zh-CN': '操作过于频繁，请稍后再试',
  en: 'You are doing this too often. Please try again later.',
  ja: '操作の間隔が短すぎます。しばらくしてからもう一度お試しください。',
  ko: '요청이 너무 잦습니다. 잠시 후 다시 시도해 주세요.',
};
const TRIES = 20; // a stalled machine can miss a window; then the next one is tried

let browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
});

after(() => browser && browser.close());

let users = 0;

/** The page as a user of its own sees it, and what went wrong in it. */
async function open(t, locale) {
  const context = await browser.newContext({ locale, viewport: { width: 1440, height: 720 } });
  t.after(() => context.close());
  const page = await context.newPage();
  page.troubles = [];
  page.on('pageerror', (error) => page.troubles.push(String(error)));
  page.on('console', (line) => line.type() === 'error' && page.troubles.push(line.text()));
  page.on('response', (answer) => answer.status() >= 400 && page.troubles.push(`${answer.status()} ${answer.url()}`));
  await page.goto(url);
  await become(page);
  return page;
}

/** Types a user: unless it's named, one whom no other test or run has been. */
async function become(page, user = `browser-${process.pid}-${Date.now()}-${++users}`) {
  const field = page.locator('#usercode + .combo .textbox-text');
  await field.fill(user);
  await field.press('Tab');
}

const query = (page) => page.click('#query');
const nextPage = (page) => page.click('.l-btn:has(.pagination-next)');
const sortBy = (page, field) => page.click(`.layout-panel-center .datagrid-header td[field=${field}] .datagrid-cell`);
const filterBy = (page, text) => page.locator('#material + .textbox .textbox-text').fill(text);
const message = (page) => page.locator('.messager-body .wms-message').last();
const footer = (page) => page.locator('.datagrid-footer .datagrid-row').last();

/** All that a rejection must leave alone. */
async function grid(page) {
  return {
    rows: await page.locator('.layout-panel-center .datagrid-view2 .datagrid-body td[field=opNo]').allInnerTexts(),
    page: await page.locator('.pagination-num').inputValue(),
    pageSize: await page.locator('.pagination-page-list').inputValue(),
    sort: await page.locator('.layout-panel-center .datagrid-header .datagrid-cell').evaluateAll((cells) => cells
      .filter((cell) => /datagrid-sort-(asc|desc)/.test(cell.className)).map((cell) => cell.innerText + cell.className)),
    asks: await page.locator('#log').evaluate((table) => {
      const { pageNumber, pageSize, sortName, sortOrder, queryParams } = window.$(table).datagrid('options');
      return { pageNumber, pageSize, sortName, sortOrder, queryParams };
    }),
  };
}

/** Does something that loads the grid, and gives the server's answer once the page has taken it. */
async function answerTo(page, act) {
  const [response] = await Promise.all([page.waitForResponse(/\/inventory\/opLogList/), act()]);
  const answer = await response.json();
  await page.waitForSelector('.layout-panel-center .datagrid-mask', { state: 'detached' });
  return answer;
}

/** Uses up the window with a query, then does something within it: it's rejected, and the grid stays as it was. */
async function rejected(page, act) {
  for (let i = 0; i < TRIES; i++) {
    await answerTo(page, () => query(page));
    const before = await grid(page);
    const answer = await answerTo(page, act);
    if (answer.error) {
      await message(page).waitFor();
      assert.equal(await message(page).innerText(), answer.error);
      assert.deepEqual(await grid(page), before);
      return answer;
    }
    await become(page);
  }
  throw new Error(`nothing was rejected in ${TRIES} tries`);
}

/** Does something again and again until it's let through. */
async function allowed(page, act) {
  for (;;) {
    if (!(await answerTo(page, act)).error) return;
  }
}

for (const [language, text] of Object.entries(MESSAGES)) {
  test(`Query twice, ${language}: the message, and the rows stay`, async (t) => {
    const page = await open(t, language);
    assert.equal(await page.getAttribute('html', 'lang'), language);
    assert.equal((await grid(page)).rows.length, 20);

    assert.deepEqual(await rejected(page, () => query(page)), { error: text, successful: 0 });
    assert.match(await footer(page).innerText(), /\+[\d,]+ \/ -[\d,]+/);
    if (screenshots) {
      await become(page, 'u1001');
      await page.evaluate(() => document.activeElement.blur());
      await page.waitForTimeout(600); // until the window has faded in: for the eye only
      await page.screenshot({ path: path.join(screenshots, `oplog-${language}.png`) });
    }
    assert.deepEqual(page.troubles, []);
  });
}

test('Two clicks at once: the rejection overtakes the rows, and both are shown', async (t) => {
  const page = await open(t, 'en');
  const answers = [];
  page.on('response', async (response) => /opLogList/.test(response.url()) && answers.push(await response.json()));
  for (let i = 0; i < TRIES && !answers.some((answer) => answer.error); i++) {
    answers.length = 0;
    await become(page);
    await query(page);
    await query(page);
    while (answers.length < 2) await page.waitForTimeout(20);
  }
  await message(page).waitFor();
  await footer(page).waitFor();
  const { rows, page: number } = await grid(page);
  assert.equal(rows.length, 20);
  assert.equal(number, '1');
  assert.deepEqual(page.troubles, []);
});

test('Paging while limited: the pager goes back, and pages again after the window', async (t) => {
  const page = await open(t, 'en');
  await rejected(page, () => nextPage(page));
  const first = await grid(page);
  assert.equal(first.page, '1');

  await allowed(page, () => nextPage(page));
  const second = await grid(page);
  assert.equal(second.page, '2');
  assert.equal(second.rows.length, 20);
  assert.ok(second.rows.every((opNo) => !first.rows.includes(opNo)));
  assert.deepEqual(page.troubles, []);
});

test('Sorting, filtering and another page size while limited go back with the rows', async (t) => {
  const page = await open(t, 'en');
  await rejected(page, () => sortBy(page, 'qty'));
  await become(page);
  await rejected(page, async () => {
    await filterBy(page, 'bearing');
    await query(page);
  });
  await become(page);
  await rejected(page, () => page.selectOption('.pagination-page-list', '50'));
  assert.deepEqual(page.troubles, []);
});

test('The language links win over Accept-Language, for the rejection too', async (t) => {
  const page = await open(t, 'fr');
  assert.equal((await page.innerText('#query')).trim(), 'Query');
  await page.click('text=한국어');
  await page.waitForSelector('html[lang=ko]');
  await become(page);
  const answer = await rejected(page, () => query(page));
  assert.equal(answer.error, MESSAGES.ko);
  assert.deepEqual(page.troubles, []);
});
