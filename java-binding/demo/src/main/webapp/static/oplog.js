$(function () {
  var text = WMS.text;
  var grid = $('#log');
  var shown = null; // the request whose answer the grid shows

  $.fn.pagination.defaults.beforePageText = text['pager.before'];
  $.fn.pagination.defaults.afterPageText = text['pager.after'];
  $.fn.pagination.defaults.displayMsg = text['pager.display'];
  $.fn.datagrid.defaults.loadMsg = text['grid.loading'];

  function number(value) {
    return value === undefined || value === null ? '' : String(value).replace(/\B(?=(\d{3})+$)/g, ',');
  }

  function escaped(value) {
    return $('<div>').text(value === undefined ? '' : value).html();
  }

  // Answers with rows are shown; {"error": text, "successful": 0} goes to onLoadError and leaves the rows alone.
  function load(request, show, fail) {
    if (!shown) { // the first rows came with the page
      shown = request;
      return false;
    }
    $.ajax({
      type: 'POST',
      url: WMS.base + '/inventory/opLogList',
      data: $.extend({ usercode: $('#usercode').combobox('getText') }, request),
      dataType: 'json'
    }).done(function (answer) {
      if (answer.error) {
        fail(answer.error);
        return;
      }
      shown = request;
      restore();
      show(answer);
    }).fail(function () {
      fail(text['message.unreachable']);
    });
  }

  // Brings pager, sort mark and filters back to what the rows are.
  function restore() {
    var options = grid.datagrid('options');
    options.pageNumber = shown.page;
    options.pageSize = shown.rows;
    options.sortName = shown.sort;
    options.sortOrder = shown.order;
    options.queryParams = { warehouse: shown.warehouse, opType: shown.opType, material: shown.material };
    grid.datagrid('getPager').pagination('refresh', { pageNumber: shown.page, pageSize: shown.rows });
    grid.datagrid('getPanel').find('.datagrid-header .datagrid-cell').removeClass('datagrid-sort-asc datagrid-sort-desc')
      .filter(function () { return $(this).parent().attr('field') === shown.sort; }).addClass('datagrid-sort-' + shown.order);
  }

  function rejected(message) {
    restore();
    $.messager.show({
      title: text['message.title'],
      msg: '<div class="wms-message">' + escaped(message) + '</div>',
      width: 400,
      height: 'auto',
      timeout: 4000,
      showType: 'fade',
      style: { right: '', bottom: '', top: 180 }
    });
  }

  grid.datagrid({
    fit: true,
    border: false,
    rownumbers: true,
    singleSelect: true,
    striped: true,
    pagination: true,
    pageSize: 20,
    pageList: [20, 50, 100],
    showFooter: true,
    remoteSort: true,
    sortName: 'opTime',
    sortOrder: 'desc',
    data: WMS.firstPage,
    queryParams: { warehouse: '', opType: '', material: '' },
    loader: load,
    onLoadError: rejected,
    columns: [[
      column('opTime', 132),
      column('opNo', 105),
      column('opType', 80, { formatter: function (value) { return WMS.types[value]; },
        styler: function (value) { return value ? { 'class': 'wms-type-' + value } : ''; } }),
      column('warehouse', 80),
      column('location', 68),
      column('material', 82),
      column('materialName', 202, { sortable: false, formatter: function (value, row) {
        return row['in'] === undefined ? escaped(value) : '<b>' + text['footer.totals'] + '</b>'; } }),
      column('batch', 76),
      column('qty', 120, { align: 'right', halign: 'right', formatter: function (value, row) {
        return row['in'] === undefined ? (value > 0 ? '+' : '') + number(value) : '+' + number(row['in']) + ' / -' + number(row.out); } }),
      column('unit', 42, { sortable: false }),
      column('balance', 80, { align: 'right', halign: 'right', formatter: number }),
      column('operator', 62)
    ]]
  });

  function column(field, width, more) {
    return $.extend({ field: field, title: text['col.' + field], width: width, sortable: true, halign: 'left', formatter: escaped }, more);
  }

  $('#summary').datagrid({
    fit: true,
    border: false,
    singleSelect: true,
    fitColumns: true,
    method: 'get',
    url: WMS.base + '/inventory/summary',
    columns: [[
      { field: 'warehouse', title: text['col.warehouse'], width: 68, formatter: escaped },
      { field: 'operations', title: text['summary.operations'], width: 70, align: 'right', formatter: number },
      { field: 'lastOperation', title: text['summary.last'], width: 112, formatter: escaped }
    ]],
    onClickRow: function (index, row) {
      $('#warehouse').combobox('setValue', row.warehouse);
    }
  });

  // No debounce on purpose: this page shows what an impatient finger gets.
  $('#query').linkbutton({ onClick: function () {
    grid.datagrid('load', {
      warehouse: $('#warehouse').combobox('getValue'),
      opType: $('#opType').combobox('getValue'),
      material: $.trim($('#material').textbox('getValue'))
    });
  } });

  $('#reset').linkbutton({ onClick: function () {
    $('#warehouse, #opType').combobox('setValue', '');
    $('#material').textbox('clear');
  } });
});
