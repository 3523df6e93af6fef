// Actions of tests on the map.

// Moves the mouse to a pair's cell, and retries where the page has changed its layout meanwhile.
// `exactly` is false where cells are too small to be pointed at one by one.
export async function pointAt(page, row, column, exactly = true) {
  for (let attempt = 0; ; ++attempt) {
    const [x, y, index] = await page.evaluate(([at, of]) => {
      const canvas = document.querySelector('#heatmap');
      const cellAt = at * canvas.heatmap.grid.columns + of;
      const middle = canvas.heatmap.middleOf(cellAt);
      const box = canvas.getBoundingClientRect();
      return [middle.x + box.x, middle.y + box.y, cellAt];
    }, [row, column]);
    await page.mouse.move(x, y);
    try {
      await page.waitForFunction(([wanted, any]) => {
        const { cursor } = document.querySelector('#heatmap').heatmap;
        return any ? cursor !== null : cursor === wanted;
      }, [index, !exactly], { timeout: 3000 });
      return;
    } catch (late) {
      if (attempt === 5) throw late;
      await page.mouse.move(1, 1);
    }
  }
}
